/**
 * Values that must not be told: what `mcp.json` takes from the environment, and what it sends in headers. A server that
 * complains often quotes them ("invalid key sk-..."), so they are taken out of every text of its errors.
 */

/** Shorter ones ("1", "on") are no secrets, and would be taken out of the middle of words. */
const MIN_LENGTH = 4;

/** The text without them. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let shown = text;
  // One may be a part of another.
  for (const secret of [...secrets].sort((a, b) => b.length - a.length))
    if (secret.length >= MIN_LENGTH) shown = shown.replaceAll(secret, '***');
  return shown;
}

const PATH = /(?:file:\/\/|(?<![\w:/\\.]))(?:[A-Za-z]:)?(?:[\\/][^\\/\s'"`:;,<>|()]+){2,}/g;

/** Absolute paths cut to their last part: what the machine's folders are called is nobody's business. */
export function withoutFolders(text: string): string {
  return text.replace(
    PATH,
    (path) => `…/${path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)}`,
  );
}
