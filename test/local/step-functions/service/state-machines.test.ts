/** State machines and their versions. Also runs against AWS, see harness.ts. */
import { randomUUID } from 'node:crypto';
import {
  CreateStateMachineCommand,
  DeleteStateMachineCommand,
  DeleteStateMachineVersionCommand,
  DescribeStateMachineCommand,
  ListStateMachinesCommand,
  ListStateMachineVersionsCommand,
  ListTagsForResourceCommand,
  PublishStateMachineVersionCommand,
  paginateListStateMachines,
  StartExecutionCommand,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateStateMachineCommand,
  ValidateStateMachineDefinitionCommand,
} from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  againstAws,
  connect,
  createMachine,
  PASS,
  ROLE,
  type Running,
  refusal,
  removeMachines,
  WAIT,
} from './harness.ts';

let running: Running;
beforeAll(async () => {
  running = await connect();
});
afterAll(async () => {
  await removeMachines(running);
  await running.close();
  expect(running.failures).toEqual([]);
});

const definition = JSON.stringify(PASS);
const other = JSON.stringify({ ...PASS, Comment: 'another' });

describe('creating', () => {
  test('answers the ARN and, if asked to publish, the first version', async () => {
    const name = `suite-${randomUUID()}`;
    const answer = await running.client.send(
      new CreateStateMachineCommand({
        name,
        definition,
        roleArn: ROLE,
        publish: true,
        versionDescription: 'first',
      }),
    );
    expect(answer.stateMachineArn).toMatch(new RegExp(`:stateMachine:${name}$`));
    expect(answer.stateMachineVersionArn).toBe(`${answer.stateMachineArn}:1`);
    expect(answer.creationDate).toBeInstanceOf(Date);
    const version = await running.client.send(
      new DescribeStateMachineCommand({ stateMachineArn: answer.stateMachineVersionArn }),
    );
    expect(version).toMatchObject({
      stateMachineArn: answer.stateMachineVersionArn,
      name,
      description: 'first',
      definition,
      roleArn: ROLE,
      type: 'STANDARD',
      status: 'ACTIVE',
      loggingConfiguration: { level: 'OFF', includeExecutionData: false },
      tracingConfiguration: { enabled: false },
    });
    await running.client.send(new DeleteStateMachineCommand({ stateMachineArn: answer.stateMachineArn }));
  });

  test('is idempotent; another definition, even in its white space, is refused', async () => {
    const name = `suite-${randomUUID()}`;
    const arn = await createMachine(running, PASS, { name });
    const create = (more: object) =>
      running.client.send(new CreateStateMachineCommand({ name, definition, roleArn: ROLE, ...more }));
    const again = await create({});
    const [first] = await Promise.all([create({}), create({})]);
    expect(again.stateMachineArn).toBe(arn);
    expect(first.creationDate).toEqual(again.creationDate);
    const exists = `StateMachineAlreadyExists: State Machine Already Exists: '${arn}'`;
    expect(await refusal(create({ definition: other }))).toBe(exists);
    expect(await refusal(create({ definition: JSON.stringify(PASS, null, 1) }))).toBe(exists);
    expect(await refusal(create({ type: 'EXPRESS' }))).toBe(exists);
    expect(await refusal(create({ publish: true }))).toBe(exists);
  });

  test.each([
    ['a name with a space', { name: 'a b' }, /^InvalidName: Invalid Name: 'a b'$/],
    [
      'a long name',
      { name: 'x'.repeat(81) },
      /^ValidationException: 1 validation error detected: Value '.*' at 'name' failed to satisfy constraint: Member must have length less than or equal to 80$/,
    ],
    [
      'a description without publish',
      { versionDescription: 'x' },
      /^ValidationException: Version description can only be set when publish is true$/,
    ],
    [
      'no definition',
      { definition: undefined },
      /^ValidationException: 1 validation error detected: Value null at 'definition'/,
    ],
    [
      'a bad definition',
      { definition: '{"Comment":"BASE_INVALID_DER","StartAt":"State_1"}' },
      /^InvalidDefinition: Invalid State Machine Definition: 'SCHEMA_VALIDATION_FAILED: These fields are required: \[States\] at \/'$/,
    ],
    [
      'an over-long definition',
      { definition: JSON.stringify({ ...PASS, Comment: 'x'.repeat(1_048_576) }) },
      /^ValidationException: .*1048576/,
    ],
  ])('refuses %s', async (_, more, expected) => {
    const call = running.client.send(
      new CreateStateMachineCommand({ name: `suite-${randomUUID()}`, definition, roleArn: ROLE, ...more }),
    );
    expect(await refusal(call)).toMatch(expected);
  });
});

describe('updating and publishing', () => {
  test('a change makes a revision, none keeps it', async () => {
    const stateMachineArn = await createMachine(running, PASS);
    const describe = () => running.client.send(new DescribeStateMachineCommand({ stateMachineArn }));
    expect((await describe()).revisionId).toBeUndefined();
    const first = await running.client.send(
      new UpdateStateMachineCommand({ stateMachineArn, definition: other }),
    );
    expect(await describe()).toMatchObject({ definition: other, revisionId: first.revisionId });
    const second = await running.client.send(
      new UpdateStateMachineCommand({ stateMachineArn, definition: other }),
    );
    expect(second.revisionId).toBe(first.revisionId);
    expect(await refusal(running.client.send(new UpdateStateMachineCommand({ stateMachineArn })))).toBe(
      'MissingRequiredParameter: Either the definition, the role ARN, the LoggingConfiguration, or the TracingConfiguration must be specified',
    );
  });

  test('versions are frozen, numbered once, listed newest first', async () => {
    const stateMachineArn = await createMachine(running, PASS);
    const update = (text: string) =>
      running.client.send(
        new UpdateStateMachineCommand({
          stateMachineArn,
          definition: text,
          publish: true,
          versionDescription: text.slice(0, 9),
        }),
      );
    const list = async (more = {}) =>
      running.client.send(new ListStateMachineVersionsCommand({ stateMachineArn, ...more }));
    expect((await update(definition)).stateMachineVersionArn).toBe(`${stateMachineArn}:1`);
    expect((await update(definition)).stateMachineVersionArn).toBe(`${stateMachineArn}:1`);
    expect((await update(other)).stateMachineVersionArn).toBe(`${stateMachineArn}:2`);
    const one = await running.client.send(
      new DescribeStateMachineCommand({ stateMachineArn: `${stateMachineArn}:1` }),
    );
    expect(one.definition).toBe(definition);
    const newest = await list({ maxResults: 1 });
    expect(newest.stateMachineVersions?.map((each) => each.stateMachineVersionArn)).toEqual([
      `${stateMachineArn}:2`,
    ]);
    const older = await list({ maxResults: 1, nextToken: newest.nextToken });
    expect(older.stateMachineVersions?.map((each) => each.stateMachineVersionArn)).toEqual([
      `${stateMachineArn}:1`,
    ]);
    expect(older.nextToken).toBeUndefined();
    const remove = () =>
      running.client.send(
        new DeleteStateMachineVersionCommand({ stateMachineVersionArn: `${stateMachineArn}:2` }),
      );
    await remove();
    await remove();
    expect((await update(other)).stateMachineVersionArn).toBe(`${stateMachineArn}:3`);
    expect(
      await refusal(
        running.client.send(new DescribeStateMachineCommand({ stateMachineArn: `${stateMachineArn}:2` })),
      ),
    ).toBe(`StateMachineDoesNotExist: State Machine Does Not Exist: '${stateMachineArn}:2'`);
    expect(
      await refusal(
        running.client.send(
          new UpdateStateMachineCommand({ stateMachineArn: `${stateMachineArn}:1`, definition }),
        ),
      ),
    ).toBe(`StateMachineDoesNotExist: State Machine Does Not Exist: '${stateMachineArn}:1'`);
  });

  test('publishing is idempotent and can ask for a revision', async () => {
    const stateMachineArn = await createMachine(running, PASS);
    const publish = (more = {}) =>
      running.client.send(new PublishStateMachineVersionCommand({ stateMachineArn, ...more }));
    expect((await publish({ revisionId: 'INITIAL' })).stateMachineVersionArn).toBe(`${stateMachineArn}:1`);
    expect((await publish()).stateMachineVersionArn).toBe(`${stateMachineArn}:1`);
    const { revisionId } = await running.client.send(
      new UpdateStateMachineCommand({ stateMachineArn, definition: other }),
    );
    const unknown = randomUUID();
    expect(await refusal(publish({ revisionId: unknown }))).toBe(
      `ConflictException: Failed to publish the State Machine version for revision ${unknown}. The current State Machine revision is ${revisionId}.`,
    );
    const published = await publish({ revisionId, description: 'second' });
    expect(published.stateMachineVersionArn).toBe(`${stateMachineArn}:2`);
    expect(
      await running.client.send(new DescribeStateMachineCommand({ stateMachineArn: `${stateMachineArn}:2` })),
    ).toMatchObject({ description: 'second', revisionId });
  });
});

describe('listing and deleting', () => {
  test.skipIf(againstAws)(
    'pages by name, and a token fits its list only (not on AWS: an account has other machines)',
    async () => {
      const service = await connect();
      const names = Array.from({ length: 7 }, (_, index) => `page-${index}`);
      for (const name of names.toReversed()) await createMachine(service, PASS, { name });
      const listed: string[] = [];
      const pages: number[] = [];
      for await (const page of paginateListStateMachines({ client: service.client, pageSize: 3 }, {})) {
        pages.push(page.stateMachines?.length ?? 0);
        for (const machine of page.stateMachines ?? []) listed.push(machine.name ?? '');
      }
      expect(listed).toEqual(names);
      expect(pages).toEqual([3, 3, 1]);
      const { nextToken } = await service.client.send(new ListStateMachinesCommand({ maxResults: 2 }));
      const stateMachineArn = 'arn:aws:states:us-east-1:000000000000:stateMachine:page-0';
      for (const token of [nextToken, 'nonsense', 'W10']) {
        const call = service.client.send(
          new ListStateMachineVersionsCommand({ stateMachineArn, nextToken: token }),
        );
        expect(await refusal(call)).toBe("InvalidToken: Invalid Token: 'Invalid token'");
      }
      expect(await refusal(service.client.send(new ListStateMachinesCommand({ maxResults: 1001 })))).toBe(
        "ValidationException: 1 validation error detected: Value '1001' at 'maxResults' failed to satisfy constraint: Member must have value less than or equal to 1000",
      );
      await service.close();
    },
  );

  test('deleting what is not there succeeds', async () => {
    const stateMachineArn = await createMachine(running, PASS);
    const missing = `${stateMachineArn}-not`;
    await running.client.send(new DeleteStateMachineCommand({ stateMachineArn: missing }));
    expect(
      await refusal(running.client.send(new DescribeStateMachineCommand({ stateMachineArn: missing }))),
    ).toBe(`StateMachineDoesNotExist: State Machine Does Not Exist: '${missing}'`);
    expect(
      await refusal(
        running.client.send(new DescribeStateMachineCommand({ stateMachineArn: 'not_a_valid_arn' })),
      ),
    ).toBe("InvalidArn: Invalid Arn: 'Invalid ARN prefix: not_a_valid_arn'");
  });

  test.skipIf(againstAws)(
    'deleting ends what runs and takes the executions along (not on AWS: it takes minutes there)',
    async () => {
      const name = `suite-${randomUUID()}`;
      const stateMachineArn = await createMachine(running, WAIT, { name });
      await running.client.send(new StartExecutionCommand({ stateMachineArn, name: 'one' }));
      await running.client.send(new DeleteStateMachineCommand({ stateMachineArn }));
      for (;;) {
        const { stateMachines = [] } = await running.client.send(
          new ListStateMachinesCommand({ maxResults: 1000 }),
        );
        const described = await refusal(
          running.client.send(new DescribeStateMachineCommand({ stateMachineArn })),
        ).catch(() => '');
        expect(stateMachines.map((each) => each.name)).not.toContain(name);
        if (described.startsWith('StateMachineDoesNotExist')) break;
      }
      await createMachine(running, WAIT, { name });
      const again = await running.client.send(new StartExecutionCommand({ stateMachineArn, name: 'one' }));
      expect(again.executionArn).toMatch(/:one$/);
    },
  );
});

test('tags', async () => {
  const resourceArn = await createMachine(running, PASS);
  const list = async () => (await running.client.send(new ListTagsForResourceCommand({ resourceArn }))).tags;
  await running.client.send(
    new TagResourceCommand({
      resourceArn,
      tags: [
        { key: 'a', value: '1' },
        { key: 'b', value: '2' },
      ],
    }),
  );
  await running.client.send(new TagResourceCommand({ resourceArn, tags: [{ key: 'a', value: '3' }] }));
  expect(await list()).toEqual([
    { key: 'a', value: '3' },
    { key: 'b', value: '2' },
  ]);
  await running.client.send(new UntagResourceCommand({ resourceArn, tagKeys: ['a', 'c'] }));
  expect(await list()).toEqual([{ key: 'b', value: '2' }]);
});

test('validating a definition answers diagnostics as data', async () => {
  const validate = (text: string, more = {}) =>
    running.client.send(new ValidateStateMachineDefinitionCommand({ definition: text, ...more }));
  expect(await validate(definition)).toMatchObject({ result: 'OK', diagnostics: [], truncated: false });
  const faulty = JSON.stringify({
    QueryLanguage: 'JSONata',
    StartAt: 'A',
    States: { A: { Type: 'Pass', Next: 'B' } },
  });
  expect(await validate(faulty)).toMatchObject({
    result: 'FAIL',
    diagnostics: [
      {
        code: 'MISSING_TRANSITION_TARGET',
        message: "Missing 'Next' target: B",
        location: '/States/A/Next',
        severity: 'ERROR',
      },
      { code: 'MISSING_END_STATE', message: 'Workflow has no terminal state', severity: 'ERROR' },
    ],
  });
  const cut = await validate(faulty, { maxResults: 1 });
  expect(cut.diagnostics).toHaveLength(1);
  expect(cut.truncated).toBe(true);
});
