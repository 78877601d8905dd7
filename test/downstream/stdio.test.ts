import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callTool, type ToolCall, ToolFailure } from '../../lib/downstream/call.ts';
import { HOPS_META_KEY, MAX_HOPS } from '../../lib/downstream/hops.ts';
import type { Pool } from '../../lib/downstream/pool.ts';
import { livingChildren } from '../../lib/downstream/processes.ts';
import { FIXTURES, isAlive, oddServer, poolOf, until } from './fixtures/setup.ts';

const odd = (pool: Pool, tool: string, args: ToolCall['arguments'] = {}, more: Partial<ToolCall> = {}) =>
  callTool(pool, { server: 'odd', tool, arguments: args, ...more });

const textOf = async (calling: ReturnType<typeof callTool>) => (await calling).content[0]?.text as string;
const count = (journal: string[], start: string) => journal.filter((line) => line.startsWith(start)).length;

describe('what a call answers', () => {
  const cases: [tool: string, args: ToolCall['arguments'], kind: string, message: string | RegExp][] = [
    ['fail', { text: 'no such row' }, 'ToolError', 'no such row'],
    ['fail', { text: 'bad\u202etext\u0007\nmore' }, 'ToolError', 'badtext more'],
    [
      'fail',
      { text: 'MCP error -32602: Input validation error: x' },
      'InvalidArguments',
      'Input validation error: x',
    ],
    ['empty-error', {}, 'ToolError', 'the tool reports an error and says nothing more'],
    ['refuse', {}, 'InvalidArguments', 'the argument x is missing'],
    ['rpc-error', {}, 'ToolError', 'the disk is full'],
    ['no-such-tool', {}, 'UnknownTool', 'server "odd" has no tool "no-such-tool".'],
    ['ech', {}, 'UnknownTool', 'server "odd" has no tool "ech". Did you mean "echo"?'],
    ['nonsense', {}, 'OutcomeUnknown', /not a valid tool result; it was sent and may have been carried out/],
  ];
  it('is a failure of the kind that says what happened', async () => {
    const pool = poolOf({ odd: oddServer().server });
    for (const [tool, args, kind, message] of cases) {
      await expect(odd(pool, tool, args), `${tool} ${JSON.stringify(args)}`).rejects.toMatchObject({
        kind,
        message: typeof message === 'string' ? message : expect.stringMatching(message),
        detail: { server: 'odd', tool },
      });
    }
  });

  it('keeps what a failing tool answered', async () => {
    const pool = poolOf({ odd: oddServer().server });
    const error = await odd(pool, 'fail', { text: 'no' }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ToolFailure);
    expect((error as ToolFailure).result).toEqual({ content: [{ type: 'text', text: 'no' }], isError: true });
  });

  it('takes structured content that does not match the output schema: the call has been carried out', async () => {
    const pool = poolOf({ odd: oddServer().server });
    await odd(pool, 'echo', { text: 'so that the tools are listed' });
    expect((await odd(pool, 'mismatch')).structured).toEqual({ n: 'one' });
  });

  it('offers no sampling', async () => {
    const pool = poolOf({ odd: oddServer().server });
    await expect(odd(pool, 'ask')).rejects.toMatchObject({
      kind: 'ToolError',
      message: expect.stringContaining('Method not found'),
    });
  });

  it('passes progress on', async () => {
    const pool = poolOf({ odd: oddServer().server });
    const seen: number[] = [];
    await odd(pool, 'progress', {}, { onProgress: ({ progress }) => seen.push(progress) });
    expect(seen).toEqual([1, 2, 3]);
  });

  it('counts the hop and refuses one too many before anything is sent', async () => {
    const { server, journal } = oddServer();
    const pool = poolOf({ odd: server });
    expect(JSON.parse(await textOf(odd(pool, 'meta', {}, { hops: 2 })))).toMatchObject({
      [HOPS_META_KEY]: 3,
    });
    await expect(odd(pool, 'meta', {}, { hops: MAX_HOPS })).rejects.toMatchObject({ kind: 'LimitExceeded' });
    expect(count(journal(), 'call')).toBe(1);
  });

  it('refuses a tool that is not on the allow-list without starting the server', async () => {
    const { server, journal } = oddServer();
    const pool = poolOf({ odd: { ...server, tools: ['echo'] } });
    await expect(odd(pool, 'slow')).rejects.toMatchObject({ kind: 'ToolNotAllowed' });
    expect(journal()).toEqual([]);
  });

  it('refuses a result over the limit and goes on with the same server', async () => {
    const { server, journal } = oddServer();
    const pool = poolOf({ odd: server });
    await expect(odd(pool, 'big', { bytes: 18 * 1024 * 1024 })).rejects.toMatchObject({
      kind: 'ResultTooLarge',
    });
    expect((await textOf(odd(pool, 'big', { bytes: 4 * 1024 * 1024 }))).length).toBe(4 * 1024 * 1024);
    expect(count(journal(), 'start')).toBe(1);
  });
});

it('a result that is none is told apart from a failure of the tool', async () => {
  const pool = poolOf({ old: { command: process.execPath, args: [join(FIXTURES, 'old-server.mjs')] } });
  await expect(callTool(pool, { server: 'old', tool: 'nonsense', arguments: {} })).rejects.toMatchObject({
    kind: 'OutcomeUnknown',
    message: 'what "nonsense" answered is not a valid tool result; it was sent and may have been carried out',
  });
});

describe('the child process', () => {
  it('gets the default variables and its own, nothing else of ours', async () => {
    process.env.ENGINE_ONLY = 'secret';
    try {
      const pool = poolOf({ odd: oddServer([], { env: { ODD: 'yes' } }).server });
      const env = JSON.parse(await textOf(odd(pool, 'env')));
      expect(env).toMatchObject({ ODD: 'yes', PATH: process.env.PATH });
      expect(env).not.toHaveProperty('ENGINE_ONLY');
    } finally {
      delete process.env.ENGINE_ONLY;
    }
  });

  it('is started once, by the first call', async () => {
    const { server, journal } = oddServer();
    const pool = poolOf({ odd: { ...server, maxConcurrency: 5 } });
    expect(livingChildren()).toEqual([]);
    await Promise.all([1, 2, 3, 4, 5].map((n) => odd(pool, 'echo', { text: `${n}` })));
    expect(count(journal(), 'start')).toBe(1);
    expect(count(journal(), 'list')).toBe(4);
    expect(pool.pids()).toEqual(livingChildren());
  });

  it('may print a banner', async () => {
    const pool = poolOf({ odd: oddServer(['banner']).server });
    expect(await textOf(odd(pool, 'echo', { text: 'hello' }))).toBe('hello');
  });

  it.each([[[]], [['silent']]])(
    'may be so old that it exits on an unknown request, or is silent: %j',
    async (flags) => {
      const pool = poolOf({
        old: { command: process.execPath, args: [join(FIXTURES, 'old-server.mjs'), ...flags] },
      });
      const calling = callTool(pool, { server: 'old', tool: 'echo', arguments: { text: 'hello' } });
      expect(await textOf(calling)).toBe('hello');
    },
  );

  it('that dies at its start is unavailable; its stderr is told, a secret of ours is not', async () => {
    const pool = poolOf({ odd: oddServer(['dies'], { env: { ODD_SECRET: 'hunter22' } }).server });
    await expect(odd(pool, 'echo')).rejects.toMatchObject({
      kind: 'ServerUnavailable',
      message:
        'server "odd" cannot be reached: it exited with code 7; its stderr: Error: cannot open the database with ***',
    });
  });

  it('that does not exist is unavailable', async () => {
    const pool = poolOf({ odd: { command: 'no-such-command-anywhere' } });
    await expect(odd(pool, 'echo')).rejects.toMatchObject({
      kind: 'ServerUnavailable',
      message: 'server "odd" cannot be reached: its command or its working directory was not found',
    });
  });

  it('that crashes leaves the outcome unknown, is noticed, and is started again by the next call', async () => {
    const { server, journal } = oddServer();
    const pool = poolOf({ odd: server });
    await expect(odd(pool, 'crash')).rejects.toMatchObject({
      kind: 'OutcomeUnknown',
      message: expect.stringContaining('exited with code 3'),
    });
    expect(livingChildren()).toEqual([]);
    expect(await textOf(odd(pool, 'echo', { text: 'again' }))).toBe('again');
    expect(count(journal(), 'start')).toBe(2);
    expect(count(journal(), 'call crash')).toBe(1);
  });

  it('that crashed while nobody called is replaced, and the call is sent once', async () => {
    const { server, journal } = oddServer();
    const pool = poolOf({ odd: server });
    await odd(pool, 'echo', { text: 'one' });
    process.kill(pool.pids()[0] as number, 'SIGKILL');
    expect(await textOf(odd(pool, 'echo', { text: 'two' })).catch((error: unknown) => error)).toSatisfy(
      // The signal races with the call: either it was never sent and is sent anew, or it was and nobody knows.
      (answer) => answer === 'two' || (answer as { kind: string }).kind === 'OutcomeUnknown',
    );
    expect(await textOf(odd(pool, 'echo', { text: 'three' }))).toBe('three');
    expect(count(journal(), 'call echo {"text":"two"}')).toBeLessThanOrEqual(1);
  });

  const hints: [what: string, fields: object, tool: string, more: Partial<ToolCall>, kind: string][] = [
    ['hint on a trusted server', { trustAnnotations: true }, 'crash-read', {}, 'TransportError'],
    ['hint on a server that is not trusted', {}, 'crash-read', {}, 'OutcomeUnknown'],
    ['trusted server without a hint', { trustAnnotations: true }, 'crash', {}, 'OutcomeUnknown'],
    ['retryUnknown', {}, 'crash', { retryUnknown: true }, 'TransportError'],
  ];
  it.each(hints)('%s: %j %s %j is %s', async (_, fields, tool, more, kind) => {
    const pool = poolOf({ odd: oddServer([], fields).server });
    await expect(odd(pool, tool, {}, more)).rejects.toMatchObject({ kind });
  });
});

describe('time limits and cancelling', () => {
  const limits: [tool: string, fields: object, kind: string][] = [
    ['slow', { trustAnnotations: true }, 'OutcomeUnknown'],
    ['slow-read', { trustAnnotations: true }, 'ToolTimeout'],
  ];
  it.each(limits)('%s on %j past its limit is %s, and the server is told', async (tool, fields, kind) => {
    const { server, journal } = oddServer([], fields);
    const pool = poolOf({ odd: server });
    await odd(pool, 'echo', { text: 'warm' });
    await expect(odd(pool, tool, { ms: 5000 }, { timeoutMs: 50 })).rejects.toMatchObject({
      kind,
      message: expect.stringContaining('did not answer within 50 ms'),
    });
    await until(() => journal().includes(`cancelled ${tool}`), 'the cancellation reaches the server');
  });

  it("the server's limit holds where the call has none, and only there", async () => {
    const pool = poolOf({ odd: oddServer([], { timeoutMs: 300 }).server });
    const started = Date.now();
    await expect(odd(pool, 'slow', { ms: 5000 })).rejects.toMatchObject({ kind: 'OutcomeUnknown' });
    expect(Date.now() - started).toBeLessThan(3000);
    await expect(odd(pool, 'slow', { ms: 600 }, { timeoutMs: 10_000 })).resolves.toMatchObject({
      isError: false,
    });
  });

  it('a signal cancels a call in flight, and the server is told', async () => {
    const { server, journal } = oddServer();
    const pool = poolOf({ odd: server });
    const controller = new AbortController();
    const calling = odd(pool, 'slow', { ms: 5000 }, { signal: controller.signal });
    const failing = expect(calling).rejects.toMatchObject({
      kind: 'Cancelled',
      message: expect.stringContaining('had been sent'),
    });
    await until(() => count(journal(), 'call slow') === 1, 'the call reaches the server');
    controller.abort();
    await failing;
    await until(() => journal().includes('cancelled slow'), 'the cancellation reaches the server');
  });

  it('a signal cancels a call that waits for its turn; it is never sent', async () => {
    const { server, journal } = oddServer();
    const pool = poolOf({ odd: server });
    const first = odd(pool, 'slow', { ms: 200 });
    await until(() => count(journal(), 'call slow') === 1, 'the first call reaches the server');
    const controller = new AbortController();
    const second = expect(
      odd(pool, 'echo', { text: 'x' }, { signal: controller.signal }),
    ).rejects.toMatchObject({
      kind: 'Cancelled',
      message: expect.stringContaining('before it was sent'),
    });
    controller.abort();
    await second;
    await first;
    expect(count(journal(), 'call echo')).toBe(0);
  });

  it.each([[1], [3]])('no more than maxConcurrency %i calls are in flight', async (maxConcurrency) => {
    const { server, journal } = oddServer();
    const pool = poolOf({ odd: { ...server, maxConcurrency } });
    await odd(pool, 'echo', { text: 'warm' });
    const controller = new AbortController();
    const calls = Array.from({ length: 6 }, () =>
      odd(pool, 'slow', { ms: 60_000 }, { signal: controller.signal }).catch(() => undefined),
    );
    await until(() => count(journal(), 'call slow') === maxConcurrency, 'the first calls arrive');
    expect(pool.servers.get('odd')?.gate.inside).toBe(maxConcurrency);
    controller.abort();
    await Promise.all(calls);
    expect(count(journal(), 'call slow')).toBe(maxConcurrency);
    expect(pool.servers.get('odd')?.gate.inside).toBe(0);
  });

  it('a signal shared by many calls warns of nothing', async () => {
    const warnings: string[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning.message);
    process.on('warning', onWarning);
    const pool = poolOf({ odd: { ...oddServer().server, maxConcurrency: 30 } });
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 30 }, (_, n) => odd(pool, 'echo', { text: `${n}` }, { signal })));
    await new Promise((next) => setImmediate(next));
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});

describe('sessions', () => {
  it('"call" starts a server for each call and ends it', async () => {
    const { server, journal } = oddServer([], { session: 'call' });
    const pool = poolOf({ odd: server });
    await odd(pool, 'echo', { text: 'one' });
    await odd(pool, 'echo', { text: 'two' });
    expect(livingChildren()).toEqual([]);
    expect(count(journal(), 'call echo')).toBe(2);
    expect(count(journal(), 'list')).toBe(4);
  });

  it('"run" has one server for each run until it is released', async () => {
    const { server, journal } = oddServer([], { session: 'run', maxConcurrency: 2 });
    const pool = poolOf({ odd: server });
    await Promise.all(['a', 'a', 'b'].map((run) => odd(pool, 'echo', { text: run }, { run })));
    expect(livingChildren().length).toBe(2);
    await pool.releaseRun('a');
    expect(livingChildren().length).toBe(1);
    await odd(pool, 'echo', { text: 'b' }, { run: 'b' });
    await pool.releaseRun('b');
    expect(livingChildren()).toEqual([]);
    expect(count(journal(), 'call')).toBe(4);
  });

  it('"run" ends the server of a run that nobody releases', async () => {
    const { server } = oddServer([], { session: 'run' });
    const pool = poolOf({ odd: server }, { runIdleMs: 50 });
    await odd(pool, 'echo', { text: 'a' }, { run: 'a' });
    await until(() => livingChildren().length === 0, 'the idle server ends');
    await expect(odd(pool, 'echo', { text: 'a' }, { run: 'a' })).resolves.toMatchObject({ isError: false });
  });

  it('"run" ends it where the process was frozen meanwhile, too', async () => {
    const { server } = oddServer([], { session: 'run' });
    const clock = { now: 0 };
    const pool = poolOf({ odd: server }, { now: () => clock.now });
    await odd(pool, 'echo', { text: 'a' }, { run: 'a' });
    pool.dropIdle();
    expect(livingChildren().length).toBe(1);
    clock.now = 6 * 60_000;
    pool.dropIdle();
    await until(() => livingChildren().length === 0, 'the idle server ends');
  });
});

describe('the end', () => {
  it('comes for what a server started, too', async () => {
    const pool = poolOf({ odd: oddServer().server });
    const grandchild = Number(await textOf(odd(pool, 'grandchild')));
    expect(isAlive(grandchild)).toBe(true);
    await pool.close();
    await until(() => !isAlive(grandchild), 'the grandchild ends');
  });

  it('comes for a server that ignores a closed stdin and SIGTERM', async () => {
    const { server, journal } = oddServer(['stubborn']);
    const pool = poolOf({ odd: server });
    await odd(pool, 'echo', { text: 'x' });
    const [pid] = pool.pids();
    await pool.close();
    expect(isAlive(pid as number)).toBe(false);
    expect(journal()).toContain('sigterm');
  });

  it('comes while a server is being started, and nothing is started afterwards', async () => {
    const pool = poolOf({ old: { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] } });
    const call = () => callTool(pool, { server: 'old', tool: 'echo', arguments: {} });
    const calling = expect(call()).rejects.toMatchObject({ kind: 'ServerUnavailable' });
    await until(() => livingChildren().length === 1, 'the server is started');
    await pool.close();
    await calling;
    expect(livingChildren()).toEqual([]);
    await expect(call()).rejects.toMatchObject({
      kind: 'ServerUnavailable',
      message: expect.stringContaining('shutting down'),
    });
  });

  it('fails the calls in flight', async () => {
    const { server, journal } = oddServer();
    const pool = poolOf({ odd: server });
    const calling = expect(odd(pool, 'slow', { ms: 60_000 })).rejects.toMatchObject({
      kind: 'OutcomeUnknown',
    });
    await until(() => count(journal(), 'call slow') === 1, 'the call reaches the server');
    await pool.close();
    await calling;
  });
});
