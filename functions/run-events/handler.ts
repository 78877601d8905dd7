/**
 * Handler of "Step Functions Execution Status Change" events, which keep the run record true to its execution, of the timer
 * that looks after those which no event came for, and of CloudFormation's events for the blueprints that the stack owns.
 */
import { z } from 'zod';
import {
  answerCustomResource,
  type CustomResourceEvent,
  type CustomResourceOptions,
  customResourceEvent,
} from '../../lib/engine/custom-resource.ts';
import type { EngineEnvironment } from '../../lib/engine/environment.ts';
import { applyStatusEvent, statusEvent, timerEvent } from '../../lib/engine/run-events.ts';
import {
  applyStackBlueprints,
  type ReadStackDocument,
  stackBlueprint,
} from '../../lib/engine/stack-blueprints.ts';
import { sweepRuns } from '../../lib/engine/sweep.ts';

export type RunEventsHandler = (event: unknown) => Promise<{ outcome: string }>;

/** The custom resource of the template (infra/blueprints). */
const RESOURCE_TYPE = 'Custom::StackBlueprints';

const stackProperties = z.object({ blueprints: z.array(stackBlueprint) });

export interface RunEventsOptions {
  /** Documents that the stack ships. Absent: on one machine, where there is no stack. */
  readStackDocument?: ReadStackDocument;
  /** How CloudFormation is answered, where not as usual. */
  answer?: Pick<CustomResourceOptions, 'delaysMs' | 'timeoutMs' | 'rightsDelaysMs'>;
}

export function createRunEvents(env: EngineEnvironment, options: RunEventsOptions = {}): RunEventsHandler {
  return async (event) => {
    if (timerEvent.safeParse(event).success) {
      const { open, closed } = await sweepRuns(env);
      return { outcome: `${open} open, ${closed} closed` };
    }
    const resource = customResourceEvent.safeParse(event);
    if (resource.success) return { outcome: await answerStack(env, resource.data, options) };
    const parsed = statusEvent.safeParse(event);
    if (!parsed.success) {
      throw new Error('run-events: this is neither an event of Step Functions nor one of CloudFormation');
    }
    const outcome = await applyStatusEvent(env, parsed.data);
    return { outcome };
  };
}

function answerStack(
  env: EngineEnvironment,
  event: CustomResourceEvent,
  { readStackDocument, answer }: RunEventsOptions,
): Promise<string> {
  const settings = { physicalId: 'stack-blueprints', log: env.log, ...answer };
  return answerCustomResource(event, settings, async () => {
    if (event.ResourceType !== RESOURCE_TYPE || readStackDocument === undefined) {
      throw new Error(`this function has nothing to do with ${event.ResourceType}`);
    }
    // What the stack made goes with it or stays with the table: it is not for this function to choose.
    if (event.RequestType === 'Delete') return 'nothing to do';
    const { blueprints } = stackProperties.parse(event.ResourceProperties);
    return applyStackBlueprints(env, { request: event.RequestId, blueprints }, readStackDocument);
  });
}
