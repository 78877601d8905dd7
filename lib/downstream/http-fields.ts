/** What may stand as the URL and the headers of an HTTP server, as written in mcp.json and as filled with its secrets. */

/** Absolute, http or https, without credentials: those belong into a header. */
export function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return (
    (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === ''
  );
}

export function isHeader(name: string, value: string): boolean {
  try {
    new Headers([[name, value]]);
    return true;
  } catch {
    return false;
  }
}

/** A header's value, and what stands after its scheme (`Bearer ...`). */
export function credentialsIn(header: string): string[] {
  return [header, header.slice(header.lastIndexOf(' ') + 1)];
}
