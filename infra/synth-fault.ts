/**
 * What keeps the stack from being made and is the user's to mend: a blueprint, mcp.json, the lock of the servers. The message has
 * every fault, each with its place and the fix; no trace is needed with it.
 */
export class SynthFault extends Error {
  override readonly name = 'SynthFault';

  /** @param faults each one line or more, without indentation */
  constructor(heading: string, faults: readonly string[]) {
    super([heading, ...faults.map((fault) => `  ${fault.replaceAll('\n', '\n  ')}`)].join('\n'));
  }
}
