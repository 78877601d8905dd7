/** A function for the tests: does what the event says. */
export const handler = async (event, context) => {
  if (event.throw !== undefined) throw new TypeError(event.throw);
  if (event.exit !== undefined) process.exit(event.exit);
  if (event.hang === true) await new Promise(() => setInterval(() => undefined, 1_000));
  if (event.meet !== undefined) await new Promise((resolve) => setTimeout(resolve, event.meet));
  return {
    pid: process.pid,
    name: context.functionName,
    remaining: context.getRemainingTimeInMillis(),
    environment: Object.keys(process.env).sort(),
    trace: process.env._X_AMZN_TRACE_ID ?? null,
    tmp: process.env.TMPDIR,
  };
};
