/**
 * Audit: every change and every start is one log entry of a fixed shape, refused ones too, and no value stands in any of them.
 */
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { AUDITED_TOOLS } from '../../lib/mcp/audit-refusal.ts';
import { ENDPOINT_TOOLS } from '../../lib/mcp/tools.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { AUDIT_ACTIONS, auditEntry } from '../../lib/telemetry/audit.ts';
import type { LogEntry } from '../../lib/telemetry/telemetry.ts';
import { PUBLISHED, type RunningEngine, startRunningEngine } from '../running-engine.ts';
import { ALL, callersOf, credentials, principalOf } from './callers.ts';

let engine: RunningEngine;
const { as, close } = callersOf(() => engine.mcp);
const log: LogEntry[] = [];
const entries = () => log.filter(({ event }) => event === 'audit');
/** What a caller says and no entry may hold. */
const SECRET = 'this-is-a-value';

const blueprint = (id: string): JsonObject => ({
  id,
  description: SECRET,
  params: { message: { type: 'string', default: SECRET } },
  steps: [
    {
      id: 'say',
      type: 'call',
      tool: 'everything/echo',
      params: { message: '{{ params.message }}' },
      parse: 'text',
    },
  ],
});

beforeAll(async () => {
  engine = await startRunningEngine(
    { everything: { ...PUBLISHED.everything, trustAnnotations: true } },
    { principalOf, headers: { authorization: credentials('setup') }, log: (entry) => log.push(entry) },
  );
  for (const id of ['kept', 'deleted', 'scheduled', 'started']) {
    await (await as('alice')).call('create_workflow', { blueprint: blueprint(id) });
  }
});
afterAll(async () => {
  await close();
  await engine.end();
});
beforeEach(() => {
  log.length = 0;
});

const RUN = expect.stringMatching(/^[0-9a-f]{32}$/) as string;
const ALICE = { level: 'info', event: 'audit', principal: 'token:alice', kind: 'token' };

/** Who calls what, and the one entry of it. */
const CALLS: [
  string,
  { scopes?: string; tools?: string[]; tool: string; args: JsonObject },
  LogEntry | undefined,
][] = [
  [
    'a save',
    { tool: 'create_workflow', args: { blueprint: blueprint('fresh') } },
    { ...ALICE, action: 'workflow.save', workflow: 'fresh', revision: 1, outcome: 'ok' },
  ],
  [
    'a save that changes nothing',
    { tool: 'create_workflow', args: { blueprint: blueprint('kept') } },
    undefined,
  ],
  [
    'a save of what is no blueprint',
    { tool: 'create_workflow', args: { blueprint: { id: 'bad', steps: [] } } },
    { ...ALICE, action: 'workflow.save', workflow: 'bad', outcome: 'Invalid' },
  ],
  [
    'a save under an id that is none',
    { tool: 'create_workflow', args: { blueprint: { ...blueprint('x'), id: `${SECRET}\n{}` } } },
    { ...ALICE, action: 'workflow.save', outcome: 'Invalid' },
  ],
  [
    'a save with tools that the author may not use',
    { tools: ['k8s/*'], tool: 'create_workflow', args: { blueprint: blueprint('fresh2') } },
    { ...ALICE, action: 'workflow.save', workflow: 'fresh2', outcome: 'Forbidden' },
  ],
  [
    'a save without the scope',
    { scopes: 'runs:read', tool: 'create_workflow', args: { blueprint: blueprint('fresh3') } },
    { ...ALICE, action: 'workflow.save', workflow: 'fresh3', outcome: 'Forbidden' },
  ],
  [
    'a deletion',
    { tool: 'delete_workflow', args: { id: 'deleted' } },
    { ...ALICE, action: 'workflow.delete', workflow: 'deleted', revision: 1, outcome: 'ok' },
  ],
  [
    'a deletion of nothing',
    { tool: 'delete_workflow', args: { id: 'none' } },
    { ...ALICE, action: 'workflow.delete', workflow: 'none', outcome: 'NotFound' },
  ],
  [
    'a start',
    { tool: 'run_workflow', args: { id: 'started', idempotencyKey: 'once', params: { message: SECRET } } },
    {
      ...ALICE,
      action: 'run.start',
      workflow: 'started',
      revision: 1,
      run: RUN,
      trigger: 'call',
      outcome: 'ok',
    },
  ],
  [
    'the same start again',
    { tool: 'run_workflow', args: { id: 'started', idempotencyKey: 'once', params: { message: SECRET } } },
    undefined,
  ],
  [
    'another start under its key',
    { tool: 'run_workflow', args: { id: 'started', idempotencyKey: 'once' } },
    { ...ALICE, action: 'run.start', workflow: 'started', trigger: 'call', outcome: 'Conflict' },
  ],
  [
    'a start with wrong parameters',
    { tool: 'run_workflow', args: { id: 'started', params: { [SECRET]: 1 } } },
    { ...ALICE, action: 'run.start', workflow: 'started', trigger: 'call', outcome: 'Invalid' },
  ],
  [
    'a start with arguments that are none',
    { tool: 'run_workflow', args: { id: 'started', wait: SECRET } },
    { ...ALICE, action: 'run.start', workflow: 'started', outcome: 'Invalid' },
  ],
  [
    'a start without the scope',
    { scopes: 'runs:read', tool: 'run_workflow', args: { id: 'started' } },
    { ...ALICE, action: 'run.start', workflow: 'started', outcome: 'Forbidden' },
  ],
  ['a dry run', { tool: 'run_workflow', args: { id: 'started', dryRun: true } }, undefined],
  [
    'a cancel of a run that is not there',
    { tool: 'cancel_run', args: { runId: 'f'.repeat(32) } },
    { ...ALICE, action: 'run.cancel', run: 'f'.repeat(32), outcome: 'NotFound' },
  ],
  [
    'a trial call',
    { tool: 'call_tool', args: { tool: 'echo', params: { message: SECRET } } },
    { ...ALICE, action: 'tool.try', run: RUN, trigger: 'try', tool: 'everything/echo', outcome: 'ok' },
  ],
  [
    'a trial call of a tool that is not there',
    { tool: 'call_tool', args: { tool: 'nothing' } },
    { ...ALICE, action: 'tool.try', run: RUN, trigger: 'try', tool: 'nothing', outcome: 'UnknownTool' },
  ],
  [
    'a trial call of a tool that may not be used',
    { tools: ['everything/get-sum'], tool: 'call_tool', args: { tool: 'everything/echo' } },
    {
      ...ALICE,
      action: 'tool.try',
      run: RUN,
      trigger: 'try',
      tool: 'everything/echo',
      outcome: 'ToolNotAllowed',
    },
  ],
  [
    'a trial call without the scope',
    { scopes: 'tools:read', tool: 'call_tool', args: { tool: 'echo' } },
    { ...ALICE, action: 'tool.try', tool: 'echo', outcome: 'Forbidden' },
  ],
  [
    'a schedule',
    {
      tool: 'schedule_workflow',
      args: { id: 'scheduled', name: 'nightly', schedule: 'cron(0 2 * * ? *)', params: { message: SECRET } },
    },
    { ...ALICE, action: 'schedule.save', workflow: 'scheduled', schedule: 'nightly', outcome: 'ok' },
  ],
  [
    'a schedule that is none',
    { tool: 'schedule_workflow', args: { id: 'scheduled', schedule: SECRET } },
    { ...ALICE, action: 'schedule.save', workflow: 'scheduled', schedule: 'default', outcome: 'Invalid' },
  ],
  ['the schedules, read', { tool: 'schedule_workflow', args: { id: 'scheduled' } }, undefined],
  [
    'a schedule that goes',
    { tool: 'schedule_workflow', args: { id: 'scheduled', name: 'nightly', delete: true } },
    { ...ALICE, action: 'schedule.delete', workflow: 'scheduled', schedule: 'nightly', outcome: 'ok' },
  ],
  ['reading', { tool: 'get_workflow', args: { id: 'kept' } }, undefined],
  ['reading without the scope', { scopes: '', tool: 'get_workflow', args: { id: 'kept' } }, undefined],
];

describe('of a call', () => {
  it.each(CALLS)('%s', async (_name, { scopes = ALL, tools, tool, args }, entry) => {
    await (await as('alice', scopes, tools)).call(tool, args);
    expect(entries()).toEqual(entry === undefined ? [] : [entry]);
    expect(JSON.stringify(entries())).not.toContain(SECRET);
  });

  it('a cancelled run: the start, then the cancel, each with the run', async () => {
    const alice = await as('alice');
    const hang = {
      id: 'hang',
      steps: [
        {
          id: 'h',
          type: 'call',
          tool: 'everything/trigger-long-running-operation',
          params: { duration: 60, steps: 60 },
        },
      ],
    };
    await alice.call('create_workflow', { blueprint: hang });
    const { answer } = await alice.call('run_workflow', { id: 'hang', wait: 0 });
    log.length = 0;
    const runId = String(answer.runId);
    await alice.call('cancel_run', { runId });
    expect(entries()).toEqual([
      { ...ALICE, action: 'run.cancel', workflow: 'hang', revision: 1, run: runId, outcome: 'ok' },
    ]);
    log.length = 0;
    await alice.call('cancel_run', { runId });
    expect(entries()).toEqual([]);
  });
});

it('of a call that OAuth is challenged for, which never reaches the tool', async () => {
  const told: LogEntry[] = [];
  const oauth = await startRunningEngine(
    { everything: PUBLISHED.everything },
    {
      principalOf: () => ({ kind: 'oauth', id: 'oauth:someone', scopes: ['workflows:read'] }),
      log: (entry) => told.push(entry),
    },
  );
  try {
    const refused = oauth.agent.call('delete_workflow', { id: 'kept' });
    await expect(refused).rejects.toThrow('required "workflows:delete"');
    expect(told.filter(({ event }) => event === 'audit')).toEqual([
      {
        ...ALICE,
        principal: 'oauth:someone',
        kind: 'oauth',
        action: 'workflow.delete',
        workflow: 'kept',
        outcome: 'Forbidden',
      },
    ]);
  } finally {
    await oauth.end();
  }
});

describe('of an execution that somebody starts by hand', () => {
  const startByHand = async (input: JsonObject): Promise<string> => {
    const sfn = new SFNClient(
      clientConfig({ region: LOCAL_REGION, endpoint: engine.endpoints.sfn, credentials: LOCAL_CREDENTIALS }),
    );
    const stateMachineArn = `arn:aws:states:${LOCAL_REGION}:000000000000:stateMachine:mwe-started`;
    await sfn.send(new StartExecutionCommand({ stateMachineArn, input: JSON.stringify(input) }));
    sfn.destroy();
    for (;;) {
      const [entry] = entries();
      if (entry !== undefined) return String(entry.run);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  it("one, as the workflow's owner, with the trigger", async () => {
    const run = await startByHand({ params: { message: SECRET } });
    expect(entries()).toEqual([
      {
        level: 'info',
        event: 'audit',
        action: 'run.start',
        principal: 'token:alice',
        kind: 'console',
        workflow: 'started',
        revision: 1,
        run,
        trigger: 'console',
        outcome: 'ok',
      },
    ]);
  });

  it('one that is refused says how', async () => {
    const run = await startByHand({ params: { [SECRET]: 1 } });
    expect(entries()).toMatchObject([
      { action: 'run.start', run, trigger: 'console', outcome: 'InvalidArguments' },
    ]);
    expect(JSON.stringify(entries())).not.toContain(SECRET);
  });
});

test('every tool that changes or starts something is told of', () => {
  const changing = ENDPOINT_TOOLS.filter(({ annotations }) => annotations.readOnlyHint !== true);
  expect(Object.keys(AUDITED_TOOLS).sort()).toEqual(changing.map(({ name }) => name).sort());
});

test("an entry holds names that are formed as names, and nothing else of a caller's", () => {
  const who = { kind: 'token', id: 'token:ci' } as const;
  for (const action of AUDIT_ACTIONS) {
    const entry = auditEntry(who, {
      action,
      workflow: 'a b',
      run: '../x',
      tool: 'a\nb',
      schedule: 'x y',
      revision: undefined,
    });
    expect(entry).toEqual({
      level: 'info',
      event: 'audit',
      action,
      principal: 'token:ci',
      kind: 'token',
      outcome: 'ok',
    });
  }
});
