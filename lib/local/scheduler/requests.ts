/**
 * The shapes of requests with the API reference's constraints. All violations are answered at once, in AWS's sentence
 * ("2 validation errors detected: Value 'x' at 'name' failed to satisfy constraint: ..."). Unknown members are ignored.
 *
 * Source: EventBridge Scheduler API reference, the operations' pages and the types Target, RetryPolicy, FlexibleTimeWindow.
 */
import { z } from 'zod';
import { invalid } from './api-error.ts';

const NAME = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[0-9a-zA-Z-_.]+$/);
const CLIENT_TOKEN = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-zA-Z0-9-_]+$/);
/** Dates are epoch seconds on the wire, whole or with a fraction. */
const TIME = z.number();
const STATE = z.enum(['ENABLED', 'DISABLED']);

const TARGET = z.object({
  Arn: z.string().min(1).max(1600),
  RoleArn: z
    .string()
    .min(1)
    .max(1600)
    .regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/),
  Input: z.string().min(1).nullish(),
  RetryPolicy: z
    .object({
      MaximumEventAgeInSeconds: z.int().min(60).max(86_400).nullish(),
      MaximumRetryAttempts: z.int().min(0).max(185).nullish(),
    })
    .nullish(),
  DeadLetterConfig: z
    .object({
      Arn: z
        .string()
        .min(1)
        .max(1600)
        .regex(/^arn:aws[a-z-]*:sqs:[a-z0-9-]+:\d{12}:[a-zA-Z0-9-_]+$/)
        .nullish(),
    })
    .nullish(),
});

const SCHEDULE = z.object({
  Name: NAME,
  GroupName: NAME.nullish(),
  ScheduleExpression: z.string().min(1).max(256),
  ScheduleExpressionTimezone: z.string().min(1).max(50).nullish(),
  StartDate: TIME.nullish(),
  EndDate: TIME.nullish(),
  Description: z.string().max(512).nullish(),
  State: STATE.nullish(),
  KmsKeyArn: z
    .string()
    .min(1)
    .max(2048)
    .regex(/^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:(key|alias)\/[0-9a-zA-Z-_]*$/)
    .nullish(),
  Target: TARGET,
  FlexibleTimeWindow: z.object({
    Mode: z.enum(['OFF', 'FLEXIBLE']),
    MaximumWindowInMinutes: z.int().min(1).max(1440).nullish(),
  }),
  ClientToken: CLIENT_TOKEN.nullish(),
  ActionAfterCompletion: z.enum(['NONE', 'DELETE']).nullish(),
});
export type ScheduleRequest = z.infer<typeof SCHEDULE>;

const TAGS = z
  .array(z.object({ Key: z.string().min(1).max(128), Value: z.string().min(1).max(256) }))
  .max(200);
const PAGE = {
  NamePrefix: NAME.nullish(),
  NextToken: z.string().min(1).max(2048).nullish(),
  MaxResults: z.int().min(1).max(100).nullish(),
};

export const REQUESTS = {
  schedule: SCHEDULE,
  oneSchedule: z.object({ Name: NAME, GroupName: NAME.nullish(), ClientToken: CLIENT_TOKEN.nullish() }),
  listSchedules: z.object({ ...PAGE, GroupName: NAME.nullish(), State: STATE.nullish() }),
  createGroup: z.object({ Name: NAME, Tags: TAGS.nullish(), ClientToken: CLIENT_TOKEN.nullish() }),
  oneGroup: z.object({ Name: NAME, ClientToken: CLIENT_TOKEN.nullish() }),
  listGroups: z.object(PAGE),
  tags: z.object({ ResourceArn: z.string().min(1).max(1011), Tags: TAGS }),
  untag: z.object({
    ResourceArn: z.string().min(1).max(1011),
    TagKeys: z.array(z.string().min(1).max(128)).max(50),
  }),
  listTags: z.object({ ResourceArn: z.string().min(1).max(1011) }),
};

/** What an operation is given: members of the body, path labels and query parameters together. */
export type RawRequest = Readonly<Record<string, unknown>>;

/** Throws `ValidationException` that lists every violation. */
export function readRequest<T>(shape: z.ZodType<T>, raw: RawRequest): T {
  const read = shape.safeParse(raw, { reportInput: true });
  if (read.success) return read.data;
  const problems = read.error.issues.map(sentence);
  const noun = problems.length === 1 ? 'error' : 'errors';
  throw invalid(`${problems.length} validation ${noun} detected: ${problems.join('; ')}`);
}

function sentence(issue: z.core.$ZodIssue): string {
  const place = issue.path
    .map((part, at) => {
      if (typeof part === 'number') return `.${part + 1}.member`;
      const name = String(part);
      return `${at === 0 ? '' : '.'}${name.charAt(0).toLowerCase()}${name.slice(1)}`;
    })
    .join('');
  return `Value${shown(issue.input)} at '${place}' failed to satisfy constraint: ${constraint(issue)}`;
}

/** AWS shows simple values and leaves long ones out. */
function shown(value: unknown): string {
  if (value === undefined || value === null) return ' null';
  if (typeof value === 'object') return '';
  const text = String(value);
  return text.length > 256 ? '' : ` '${text}'`;
}

function constraint(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'too_small':
    case 'too_big': {
      const [bound, order] =
        issue.code === 'too_small' ? [issue.minimum, 'greater'] : [issue.maximum, 'less'];
      const measure = issue.origin === 'string' || issue.origin === 'array' ? 'length' : 'value';
      return `Member must have ${measure} ${order} than or equal to ${bound}`;
    }
    case 'invalid_format':
      return `Member must satisfy regular expression pattern: ${(issue.pattern ?? '').replace(/^\/|\/$/g, '')}`;
    case 'invalid_value':
      return issue.input === undefined || issue.input === null
        ? 'Member must not be null'
        : `Member must satisfy enum value set: [${issue.values.join(', ')}]`;
    case 'invalid_type':
      return issue.input === undefined || issue.input === null
        ? 'Member must not be null'
        : `Member must be ${KIND[issue.expected] ?? issue.expected}`;
    default:
      return issue.message;
  }
}

const KIND: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'a boolean',
  object: 'a structure',
  array: 'a list',
};
