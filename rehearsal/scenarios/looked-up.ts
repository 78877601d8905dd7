/**
 * Runs whose end no event told of: EventBridge is best effort. What looks at them, when they have been silent for a minute, is whoever
 * reads the run, and the sweep. The silence is made by putting the record's time back.
 */
import { ScanCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import { check, executionEnds, runBecomes, type Scenario, type Stage, save, textAt } from '../stage.ts';
import { longRun } from './blueprints.ts';
import { begun, executionArn } from './executions.ts';

export const lookedUp: Scenario = {
  name: 'runs that no event closed are looked up',
  async run(stage) {
    const agent = await stage.agent(stage.admin);
    await save(agent, longRun('silent'));
    const { events } = stage.deployment;
    const rules = events.rules.filter(({ pattern }) => pattern !== undefined);
    const timers = events.rules.filter(({ pattern }) => pattern === undefined);
    check(timers.length > 0, 'the template should have a timer');
    const read = await begun(agent, 'silent');
    const swept = await begun(agent, 'silent');
    // The bus loses what comes from now on.
    events.rules.splice(0, events.rules.length, ...timers);
    try {
      for (const run of [read, swept]) {
        const arn = executionArn(run);
        const { sfn } = stage.deployment.world.clients;
        await sfn.send(new StopExecutionCommand({ executionArn: arn }));
        await executionEnds(stage, arn);
        await age(stage, textAt(run, 'runId'));
      }
      await runBecomes(agent, textAt(read, 'runId'), 'CANCELLED');
      for (const { name } of timers) await events.fire(name);
      await runBecomes(agent, textAt(swept, 'runId'), 'CANCELLED');
    } finally {
      events.rules.push(...rules);
    }
  },
};

/** As if nothing had been heard of the run for two minutes. */
async function age({ deployment: { world } }: Stage, runId: string): Promise<void> {
  const { dynamodb } = world.clients;
  for (const { logicalId, type } of world.template.order) {
    if (type !== 'AWS::DynamoDB::Table') continue;
    const table = world.template.identityOf(logicalId).ref;
    const { Items: items = [] } = await dynamodb.send(new ScanCommand({ TableName: table }));
    for (const item of items) {
      if (item.pk?.S !== `RUN#${runId}` || item.touchedAt === undefined) continue;
      await dynamodb.send(
        new UpdateItemCommand({
          TableName: table,
          Key: { pk: item.pk, sk: item.sk ?? { S: '' } },
          UpdateExpression: 'SET touchedAt = :then',
          ExpressionAttributeValues: { ':then': { S: new Date(Date.now() - 120_000).toISOString() } },
        }),
      );
    }
  }
}
