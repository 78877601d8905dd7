/**
 * The default event bus: an event goes to the functions of every rule whose pattern it matches, where the function's policy lets
 * EventBridge in for that rule. A timer's rule is fired by hand.
 *
 * A function that fails on an event is told as a fault; on AWS it would be tried twice more. Deliveries are made one at a time a
 * function, and can be waited for.
 */
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../lib/blueprint/json.ts';
import type { LambdaService } from '../lib/local/lambda/functions.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../lib/store/aws-config.ts';
import { matchesEvent } from './event-pattern.ts';
import type { Permissions } from './permissions.ts';
import type { EventRule } from './world.ts';

export interface Events {
  rules: EventRule[];
  /** Events go through this Lambda. */
  connect(lambda: LambdaService): void;
  /** Resolves when the event's functions have worked on it. */
  publish(event: JsonObject): Promise<void>;
  /** Fires a rule that runs by a timer. Throws where there is no such rule. */
  fire(ruleName: string): Promise<void>;
}

export function createEvents(permissions: Permissions, fault: (error: unknown) => void): Events {
  const rules: EventRule[] = [];
  let lambda: LambdaService | undefined;

  async function deliver(rule: EventRule, event: JsonObject): Promise<void> {
    for (const target of rule.targets) {
      const decision = permissions.decide(
        { kind: 'service', name: 'events.amazonaws.com' },
        {
          action: 'lambda:InvokeFunction',
          resource: target,
          context: { 'aws:SourceArn': rule.arn, 'aws:SourceAccount': LOCAL_ACCOUNT },
        },
      );
      if (decision.outcome !== 'allowed') {
        fault(`the rule ${rule.name} may not invoke ${target}`);
        continue;
      }
      const answer = await lambda?.invoke({
        functionName: target,
        payload: JSON.stringify(event),
        invocationType: 'RequestResponse',
        signal: new AbortController().signal,
      });
      if (answer?.functionError !== undefined) fault(`${target} failed on an event: ${answer.payload}`);
    }
  }

  return {
    rules,
    connect(given) {
      lambda = given;
    },
    async publish(event) {
      const matching = rules.filter(({ pattern }) => pattern !== undefined && matchesEvent(pattern, event));
      await Promise.all(matching.map((rule) => deliver(rule, event)));
    },
    async fire(ruleName) {
      const rule = rules.find(({ name, pattern }) => name === ruleName && pattern === undefined);
      if (rule === undefined) throw new Error(`there is no timer ${ruleName}`);
      await deliver(rule, {
        version: '0',
        id: randomUUID(),
        'detail-type': 'Scheduled Event',
        source: 'aws.events',
        account: LOCAL_ACCOUNT,
        time: `${new Date().toISOString().slice(0, 19)}Z`,
        region: LOCAL_REGION,
        resources: [rule.arn],
        detail: {},
      });
    },
  };
}
