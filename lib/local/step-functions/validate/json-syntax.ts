/**
 * Reads JSON the way the service's parser does, for two things that JSON.parse does not tell: its sentence for a
 * syntax error ("Unrecognized token 'not': was expecting ..."), and names that stand twice in one object.
 *
 * It is only run on text that is refused anyway, and on definitions. It keeps a stack of its own, so that no depth of
 * nesting ends it.
 */
const LITERALS = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')";
const SOURCE_CHARACTERS = 500;

export interface JsonSyntaxError {
  /** The parser's sentence. */
  message: string;
  /** `[Source: (String)"..."; line: 1, column: 4]`. */
  source: string;
}

export interface DuplicateName {
  name: string;
  /** Names and array positions on the way to the object that has the name twice. */
  path: (string | number)[];
}

interface Frame {
  kind: 'object' | 'array';
  names: Set<string>;
  /** The name or position that is being read. */
  at: string | number;
  state: 'first' | 'value' | 'comma';
}

/** The first syntax error of `text`, or undefined for valid JSON. */
export function jsonSyntaxError(text: string): JsonSyntaxError | undefined {
  return scanJson(text).error;
}

/** Every name that repeats an earlier one in the same object. For valid JSON. */
export function duplicateNames(text: string): DuplicateName[] {
  return scanJson(text).duplicates;
}

function scanJson(text: string): { error?: JsonSyntaxError; duplicates: DuplicateName[] } {
  const duplicates: DuplicateName[] = [];
  const stack: Frame[] = [];
  let at = 0;

  const fail = (message: string, offset: number) => ({
    error: { message, source: sourceAt(text, offset) },
    duplicates,
  });
  const unexpected = (expected: string) => {
    const character = text[at] ?? '';
    return fail(
      `Unexpected character ('${character}' (code ${character.charCodeAt(0)})): was expecting ${expected}`,
      at + 1,
    );
  };
  const space = () => {
    while (at < text.length && ' \t\r\n'.includes(text[at] ?? '')) at += 1;
  };

  space();
  for (;;) {
    const frame = stack.at(-1);
    if (frame !== undefined && frame.state !== 'value') {
      // Inside an object or array, where a name, an item, a comma or the end may stand.
      space();
      if (at >= text.length)
        return fail(`Unexpected end-of-input: expected close marker for ${kindName(frame)}`, at);
      const close = frame.kind === 'object' ? '}' : ']';
      if (text[at] === close) {
        at += 1;
        stack.pop();
        const outer = stack.at(-1);
        if (outer === undefined) return end();
        outer.state = 'comma';
        continue;
      }
      if (frame.state === 'comma') {
        if (text[at] !== ',') return unexpected(`comma to separate ${kindName(frame)} entries`);
        at += 1;
        space();
        if (typeof frame.at === 'number') frame.at += 1;
      }
      if (frame.kind === 'object') {
        if (text[at] !== '"') {
          if (at >= text.length)
            return fail(`Unexpected end-of-input: expected close marker for ${kindName(frame)}`, at);
          return unexpected('double-quote to start field name');
        }
        const name = readString();
        if (name === undefined)
          return fail('Unexpected end-of-input: was expecting closing quote for a string value', at);
        if (frame.names.has(name)) duplicates.push({ name, path: stack.slice(0, -1).map((each) => each.at) });
        frame.names.add(name);
        frame.at = name;
        space();
        if (text[at] !== ':') {
          if (at >= text.length) return fail('Unexpected end-of-input', at);
          return unexpected('a colon to separate field name and value');
        }
        at += 1;
      }
      frame.state = 'value';
    }
    // A value is due.
    space();
    const outer = stack.at(-1);
    if (at >= text.length) {
      return fail(
        outer === undefined ? 'No content to map due to end-of-input' : 'Unexpected end-of-input',
        at,
      );
    }
    const character = text[at] ?? '';
    if (character === '{' || character === '[') {
      at += 1;
      const kind = character === '{' ? 'object' : 'array';
      stack.push({ kind, names: new Set(), at: kind === 'array' ? 0 : '', state: 'first' });
      continue;
    }
    if (character === '"') {
      if (readString() === undefined) {
        return fail('Unexpected end-of-input: was expecting closing quote for a string value', at);
      }
    } else {
      const token = /^[\w.+$-]+/.exec(text.slice(at, at + 256))?.[0];
      if (token === undefined) return unexpected(`a valid value ${LITERALS}`);
      const word = /^[A-Za-z_$][\w$]*/.exec(token)?.[0];
      if (word !== undefined && !['true', 'false', 'null'].includes(word)) {
        return fail(`Unrecognized token '${word}': was expecting ${LITERALS}`, at + word.length);
      }
      if (word === undefined && !/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(token)) {
        return fail(`Unrecognized token '${token}': was expecting ${LITERALS}`, at + token.length);
      }
      at += (word ?? token).length;
    }
    if (outer === undefined) return end();
    outer.state = 'comma';
  }

  function end(): { error?: JsonSyntaxError; duplicates: DuplicateName[] } {
    space();
    return at < text.length ? unexpected('end of input') : { duplicates };
  }

  /** The string that begins here; undefined where it has no end. Control characters and bad escapes pass. */
  function readString(): string | undefined {
    const start = at;
    for (at += 1; at < text.length; at += 1) {
      if (text[at] === '\\') at += 1;
      else if (text[at] === '"') {
        at += 1;
        const raw = text.slice(start, at);
        try {
          return JSON.parse(raw) as string;
        } catch {
          return raw.slice(1, -1);
        }
      }
    }
    return undefined;
  }
}

function kindName(frame: Frame): string {
  return frame.kind === 'object' ? 'Object' : 'Array';
}

/** Lines and columns count from 1, and the column is the one after what was read. */
function sourceAt(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  const column = offset - (before.lastIndexOf('\n') + 1) + 1;
  const shown = text.slice(0, SOURCE_CHARACTERS);
  const rest = text.length - shown.length;
  const truncated = rest > 0 ? `[truncated ${rest} chars]` : '';
  return `[Source: (String)"${shown}"${truncated}; line: ${line}, column: ${column}]`;
}
