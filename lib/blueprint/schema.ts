/**
 * The shape of the blueprint language as zod schemas: which fields there are, of what type, within what limits, and
 * what each is for (the descriptions are what an editor shows while completing).
 *
 * There are two views of one definition. `blueprintSchema` is the whole language, recursive: the JSON Schema is made from
 * it. `blueprintShape` and `stepShapes` stop at the inner steps, so that the validator checks each step by itself: one
 * wrong step never hides what is wrong in another, and nesting costs no recursion.
 *
 * Objects are strict: a field that is not listed is an error. What zod cannot say well (exactly one of two fields, ids
 * that must differ, everything about templates) is checked in lib/compile/validate.
 */
import * as z from 'zod';
import {
  BLUEPRINT_ID,
  DEFAULT_BACKOFF_RATE,
  DEFAULT_MAX_DELAY_MS,
  DEFAULT_MAX_ITEMS,
  DEFAULT_RETRY_DELAY_MS,
  DEFAULT_RUN_TIMEOUT_SECONDS,
  MAX_CONCURRENCY,
  MAX_RETRIES,
  MAX_RUN_TIMEOUT_SECONDS,
  STEP_ID,
  TOOL_NAME,
  WORKFLOW_REFERENCE,
} from './limits.ts';
import { PARAM_TYPES, PARSE_MODES } from './types.ts';

const MAX_DELAY = MAX_RUN_TIMEOUT_SECONDS * 1000;

const anyJson = (description: string) => z.unknown().describe(description);
const condition = (description: string) => z.union([z.boolean(), z.string()]).describe(description);
const seconds = (max: number, description: string) => z.int().min(1).max(max).describe(description);

const paramDeclaration = z
  .strictObject({
    type: z.enum(PARAM_TYPES).describe('The JSON type that a run must give.'),
    description: z.string().optional().describe('What the parameter is for, for whoever starts a run.'),
    default: anyJson(
      'The value where a run gives none. Without a default the parameter is required; null makes it optional.',
    ).optional(),
  })
  .meta({ id: 'paramDeclaration', description: 'One parameter of the blueprint.' });

const errorStrategy = z
  .strictObject({
    onStepFailure: z.enum(['abort', 'continue', 'retry']).optional().meta({
      default: 'abort',
      description:
        'What follows when a step has failed and its tries are used up: `abort` fails the list that the step stands in, `continue` records the failure and goes on, `retry` is `abort` with two retries by default.',
    }),
    maxRetries: z.int().min(0).max(MAX_RETRIES).optional().meta({
      description:
        'Further tries of a call that failed with ToolError, ToolTimeout, TransportError or ServerUnavailable. Applies under every onStepFailure. Default 0, under `retry` 2.',
    }),
    retryDelayMs: z.int().min(0).max(MAX_DELAY).optional().meta({
      default: DEFAULT_RETRY_DELAY_MS,
      description: 'Milliseconds before the first retry.',
    }),
    backoffRate: z.number().min(1).max(100).optional().meta({
      default: DEFAULT_BACKOFF_RATE,
      description: 'Each further delay is the one before times this.',
    }),
    maxDelayMs: z.int().min(0).max(MAX_DELAY).optional().meta({
      default: DEFAULT_MAX_DELAY_MS,
      description: 'No delay is longer than this, in milliseconds.',
    }),
    jitter: z.boolean().optional().meta({
      default: true,
      description: 'Delays are spread at random, so that retries of many items do not arrive together.',
    }),
    collectErrors: z.boolean().optional().meta({
      default: true,
      description: "Whether failures stand in the run's answer.",
    }),
  })
  .meta({
    id: 'errorStrategy',
    description:
      'What a failure does. A step without a strategy takes the nearest one outward, whole: nothing is merged.',
  });

const schedule = z
  .strictObject({
    name: z.string().regex(STEP_ID).describe('Unique among the schedules of the blueprint.'),
    schedule: z
      .string()
      .describe(
        'When: `cron(minutes hours day-of-month month day-of-week year)`, `rate(15 minutes)` or `at(2030-01-31T08:30:00)`, as EventBridge Scheduler takes them.',
      ),
    timezone: z
      .string()
      .optional()
      .meta({ default: 'UTC', description: 'Name of the IANA database, for `cron` and `at`.' }),
    params: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('The parameters of its runs; values, never templates.'),
    enabled: z.boolean().optional().meta({ default: true, description: 'Whether it fires.' }),
  })
  .meta({ id: 'schedule', description: 'One schedule of a blueprint that ships with the deployment.' });

const commonFields = {
  id: z
    .string()
    .regex(STEP_ID)
    .describe(
      'Unique in the blueprint. Other steps read the value as `steps.ID` and how it went as `results.ID`.',
    ),
  description: z.string().optional().describe('For readers; shown in the state machine.'),
  when: condition(
    'One whole template or a boolean. When it is false the step is skipped: its value is null and its readers run.',
  ).optional(),
  failWhen: condition(
    'One whole template or a boolean, looked at after the step with its value as `output`. When it is true the step fails with FailedCondition.',
  ).optional(),
  errorStrategy: errorStrategy.optional(),
};

const select = anyJson(
  'A template (often an object of templates) that makes the value of the step; `output` is the value before.',
);

/** The step types, over what stands for an inner list of steps and for "a step or a list of steps". */
function stepFields<L extends z.ZodType, S extends z.ZodType>(list: L, stepOrList: S) {
  return {
    call: z
      .strictObject({
        type: z.literal('call').describe('Calls a tool, or runs another workflow.'),
        ...commonFields,
        tool: z
          .string()
          .regex(TOOL_NAME)
          .optional()
          .describe(
            'Name of the tool: `list_pods`, or `k8s/list_pods` where two servers offer it. A literal, never a template.',
          ),
        workflow: z
          .string()
          .regex(WORKFLOW_REFERENCE)
          .optional()
          .describe(
            'Id of the workflow to run instead of a tool; its value is its `output`. Pinned to the revision current when this blueprint is saved; `id@latest` floats.',
          ),
        params: z
          .record(z.string(), z.unknown())
          .optional()
          .describe('Arguments by name; any value may hold templates. One that comes out null is left out.'),
        parse: z
          .enum(PARSE_MODES)
          .optional()
          .describe(
            "How the value is read from the tool's result. By default: the structured content, else one text block (parsed if it is a JSON object or array), else the blocks.",
          ),
        select: select.optional(),
        retryUnknown: z.boolean().optional().meta({
          default: false,
          description:
            'Repeat the call even where it may already have been carried out (sent, and no answer came).',
        }),
        timeoutSeconds: seconds(
          MAX_RUN_TIMEOUT_SECONDS,
          "Time limit of the step with its retries; of a tool call at most 870. Default: each call has the server's limit (60 s).",
        ).optional(),
      })
      .meta({ id: 'callStep', description: 'Calls a tool (`tool`) or runs another workflow (`workflow`).' }),
    loop: z
      .strictObject({
        type: z
          .literal('loop')
          .describe('Runs `do` for each item of a list, or as long as a condition holds.'),
        ...commonFields,
        over: z
          .union([z.array(z.unknown()), z.string()])
          .optional()
          .describe('The list: one whole template, or a literal array. Exactly one of `over` and `while`.'),
        while: condition(
          'One whole template or a boolean, looked at after each pass with its value as `output`: true means another pass. Needs `max`.',
        ).optional(),
        max: z
          .int()
          .min(1)
          .optional()
          .describe('Passes of a `while` loop at most; reaching it is an error, never a cut.'),
        as: z.string().regex(STEP_ID).optional().meta({
          default: 'item',
          description: 'Name of the item in templates of the body. `index` counts from 0.',
        }),
        do: stepOrList.describe(
          'The body: a step or a list of steps. Its last step makes the value of the item.',
        ),
        concurrency: z.int().min(1).max(MAX_CONCURRENCY).optional().meta({
          default: 1,
          description: 'Items that run at the same time.',
        }),
        maxItems: z.int().min(1).optional().meta({
          default: DEFAULT_MAX_ITEMS,
          description: 'More items than this is an error, never a cut.',
        }),
        mode: z.enum(['batch', 'map']).optional().meta({
          default: 'batch',
          description:
            '`batch` walks the items inside one task; `map` makes each item visible in the console, at the price of transitions. A body with a sub-workflow or a map loop is always `map`.',
        }),
        timeoutSeconds: seconds(MAX_RUN_TIMEOUT_SECONDS, 'Time limit of the whole loop.').optional(),
      })
      .meta({
        id: 'loopStep',
        description:
          'Value: an array, one value an item, in order; null where an item failed or was skipped.',
      }),
    parallel: z
      .strictObject({
        type: z.literal('parallel').describe('Runs its branches at the same time.'),
        ...commonFields,
        branches: z
          .array(stepOrList)
          .min(1)
          .describe('Each a step or a list of steps. All settle before any failure counts.'),
        timeoutSeconds: seconds(MAX_RUN_TIMEOUT_SECONDS, 'Time limit of all branches together.').optional(),
      })
      .meta({ id: 'parallelStep', description: 'Value: an array, one value a branch.' }),
    pipe: z
      .strictObject({
        type: z.literal('pipe').describe('Runs steps in order; `input` is the value of the step before.'),
        ...commonFields,
        steps: list.describe('The steps of the pipe.'),
        timeoutSeconds: seconds(MAX_RUN_TIMEOUT_SECONDS, 'Time limit of the whole pipe.').optional(),
      })
      .meta({ id: 'pipeStep', description: "Value: the last step's value." }),
    collect: z
      .strictObject({
        type: z.literal('collect').describe('Runs steps in order and gathers their values in an object.'),
        ...commonFields,
        steps: list.describe('The steps whose values are gathered.'),
        select: select.optional(),
        timeoutSeconds: seconds(MAX_RUN_TIMEOUT_SECONDS, 'Time limit of all steps together.').optional(),
      })
      .meta({ id: 'collectStep', description: 'Value: `{ stepId: value }`, or what `select` makes of it.' }),
  };
}

function blueprintFields<L extends z.ZodType>(steps: L) {
  return z.strictObject({
    $schema: z.string().optional().describe('Address of this schema, for editors.'),
    id: z
      .string()
      .regex(BLUEPRINT_ID)
      .describe('Names the workflow. Saving the same id again makes a new revision.'),
    description: z.string().optional().describe('What the workflow is for; agents choose by it.'),
    version: z
      .string()
      .optional()
      .describe("The author's own version; the engine numbers revisions by itself."),
    params: z
      .record(z.string().regex(STEP_ID), paramDeclaration)
      .optional()
      .describe('The parameters of a run by name, read as `params.NAME`.'),
    errorStrategy: errorStrategy.optional(),
    timeoutSeconds: seconds(MAX_RUN_TIMEOUT_SECONDS, 'Time limit of a run.')
      .optional()
      .meta({ default: DEFAULT_RUN_TIMEOUT_SECONDS }),
    steps: steps.describe('The steps, run in order.'),
    output: anyJson(
      "The answer of a run: any JSON with templates. Failed steps read as null. Default: the last step's value.",
    ).optional(),
    schedules: z
      .array(schedule)
      .optional()
      .describe(
        'Schedules that are deployed with the blueprint. Only in blueprints that ship with the deployment; others are scheduled with the tool schedule_workflow.',
      ),
  });
}

const step: z.ZodType = z
  .lazy(() => {
    const { call, loop, parallel, pipe, collect } = stepFields(stepList, stepOrList);
    return z.discriminatedUnion('type', [call, loop, parallel, pipe, collect]);
  })
  .meta({ id: 'step', description: 'One step. `type` says which.' });
const stepList = z.array(step).min(1).meta({ id: 'stepList', description: 'Steps, run in order.' });
const stepOrList = z.union([step, stepList]);

/** The whole language, recursive. */
export const blueprintSchema = blueprintFields(stepList);

const anyStep = z.looseObject({});
const anySteps = z.array(anyStep).min(1);

/** The blueprint's own fields; its steps are only objects. */
export const blueprintShape = blueprintFields(anySteps);

/** The fields of each step type; inner steps are only objects. */
export const stepShapes = stepFields(anySteps, z.union([anyStep, anySteps]));

export type StepType = keyof typeof stepShapes;
