/** S3 answers in XML. Elements are written from plain data; text is escaped, so a key cannot end its element. */

type XmlContent = string | number | boolean | XmlElement[];
export type XmlElement = [name: string, content: XmlContent];

/** A document with one root element. */
export function xmlDocument(name: string, content: XmlElement[], namespace = true): string {
  const attribute = namespace ? ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"' : '';
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${name}${attribute}>${render(content)}</${name}>`;
}

function render(content: XmlContent): string {
  if (!Array.isArray(content)) return escapeText(String(content));
  return content.map(([name, inner]) => `<${name}>${render(inner)}</${name}>`).join('');
}

/** Characters that XML cannot hold at all are why `encoding-type=url` exists; they are written as references. */
function escapeText(text: string): string {
  let escaped = '';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (character === '&') escaped += '&amp;';
    else if (character === '<') escaped += '&lt;';
    else if (character === '>') escaped += '&gt;';
    else if (character === '"') escaped += '&quot;';
    else if (code < 0x20) escaped += `&#x${code.toString(16)};`;
    else escaped += character;
  }
  return escaped;
}
