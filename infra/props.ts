/**
 * What a user may decide of a deployment: the object under the context key `mwe` of cdk.json (or `-c mwe='{…}'`, which
 * replaces it whole). Everything has a default, so that `{}` deploys. What is misspelt or out of range is refused before anything
 * is made, all of it at once; infra/read-props.ts writes the messages.
 */
import { z } from 'zod';
import { MAX_RUN_TIMEOUT_SECONDS, MAX_SUBWORKFLOW_DEPTH } from '../lib/blueprint/limits.ts';
import { DEFAULT_ENGINE_LIMITS } from '../lib/engine/limits.ts';
import { SCOPES } from '../lib/engine/principals.ts';
import { toolsSchema } from '../lib/mcp/auth/config.ts';
import { DEFAULT_STEPS_LIMITS } from '../lib/steps/environment.ts';

/** The retention periods that CloudWatch Logs knows. Source: CloudWatch Logs API reference, PutRetentionPolicy. */
export const RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
] as const;

/** A function's resource policy ends at 20 KiB, and each principal takes two statements of it. */
const MAX_IAM_PRINCIPALS = 20;

const wholeNumber = (from: number, to: number) => {
  const message = `a whole number from ${from} to ${to}`;
  return z.int(message).min(from, message).max(to, message);
};

const https = z.url({ protocol: /^https$/, error: 'an https URL, e.g. "https://issuer.example.com"' });

const iamPrincipal = z
  .string()
  .regex(
    /^arn:aws:iam::\d{12}:(role|user)\/[\w+=,.@/-]+$/,
    'ARNs of IAM roles or users without wildcards, e.g. "arn:aws:iam::123456789012:role/agents" (of an assumed role: the role)',
  );

const grant = z.strictObject({
  scopes: z.array(z.enum(SCOPES, `scopes: ${SCOPES.join(', ')}`)).min(1, 'at least one scope'),
  tools: toolsSchema.optional(),
});

const auth = z.discriminatedUnion(
  'mode',
  [
    z.strictObject({ mode: z.literal('bearer') }),
    z.strictObject({
      mode: z.literal('iam'),
      principals: z.record(iamPrincipal, grant).superRefine((principals, context) => {
        const count = Object.keys(principals).length;
        if (count >= 1 && count <= MAX_IAM_PRINCIPALS) return;
        context.addIssue({
          code: 'custom',
          message: `${count} principals are set; 1 to ${MAX_IAM_PRINCIPALS} have room in the function's resource policy, more can share a role`,
        });
      }),
    }),
    z.strictObject({
      mode: z.literal('oauth'),
      issuer: https,
      audience: z.string().min(1, 'the audience that access tokens must name'),
      jwksUri: https.optional(),
      /** The claim with a subject's allow-list of tools; a token without it may then use none. Default: no lists. */
      toolsClaim: z.string().min(1, 'the name of a claim').max(255).optional(),
    }),
  ],
  { error: '"bearer", "iam" or "oauth"' },
);

const functionProps = (defaults: { memoryMb: number; timeoutSeconds: number }, timeout: [number, number]) =>
  z
    .strictObject({
      /** MiB; the share of a CPU follows from it, one whole at 1,769. */
      memoryMb: wholeNumber(256, 10_240).default(defaults.memoryMb),
      /** Seconds. */
      timeoutSeconds: wholeNumber(...timeout).default(defaults.timeoutSeconds),
      /** Executions kept for this function and its upper bound. Default: none reserved, since small accounts cannot. */
      reservedConcurrency: wholeNumber(1, 10_000).optional(),
    })
    .prefault({});

/**
 * Lambda takes 4 KiB of environment; what of the endpoint's does not come from props is well below the rest.
 * Source: Lambda developer guide, "Lambda quotas".
 */
const MAX_ACCESS_BYTES = 2400;

const allProps = z.strictObject({
  /**
   * Begins the names of machines, functions, schedules and logs, and is the stack's name; tells deployments of one account and
   * region apart. It has no hyphen, so that no prefix's machines begin like another's. Do not change it later: machines and
   * their versions name the functions. Default `mwe`.
   */
  prefix: z
    .string()
    .regex(/^[a-z][a-z0-9]{0,15}$/, '1 to 16 lower-case letters and digits, a letter first, no hyphen')
    .default('mwe'),
  /** How agents prove who they are. Default: bearer tokens, which `mwe token create` makes. */
  auth: auth.prefault({ mode: 'bearer' }),
  /** Which downstream tools `call_tool` may try. Default `off`. */
  callTool: z.enum(['off', 'read-only', 'all'], '"off", "read-only" or "all"').default('off'),
  /**
   * `values`: execution logs and task answers hold arguments and results, for development. Default `links`: neither does;
   * task answers link to stored values.
   */
  inspect: z.enum(['links', 'values'], '"links" or "values"').default('links'),
  /** The first five are of one principal, the others of a run and all its sub-runs. */
  limits: z
    .strictObject({
      requestsPerMinute: wholeNumber(1, 100_000).default(DEFAULT_ENGINE_LIMITS.requestsPerMinute),
      openRuns: wholeNumber(1, 100_000).default(DEFAULT_ENGINE_LIMITS.openRuns),
      waitingRuns: wholeNumber(1, 1000).default(DEFAULT_ENGINE_LIMITS.waitingRuns),
      schedules: wholeNumber(1, 10_000).default(DEFAULT_ENGINE_LIMITS.schedules),
      minScheduleMinutes: wholeNumber(1, 1440).default(DEFAULT_ENGINE_LIMITS.minScheduleMinutes),
      maxAttempts: wholeNumber(1, 10_000_000).default(DEFAULT_STEPS_LIMITS.maxAttempts),
      maxSubRuns: wholeNumber(1, 100_000).default(DEFAULT_STEPS_LIMITS.maxSubRuns),
      maxDepth: wholeNumber(1, MAX_SUBWORKFLOW_DEPTH).default(DEFAULT_STEPS_LIMITS.maxDepth),
      maxRunSeconds: wholeNumber(1, MAX_RUN_TIMEOUT_SECONDS).default(DEFAULT_STEPS_LIMITS.maxRunSeconds),
    })
    .prefault({}),
  functions: z
    .strictObject({
      /** A held stream ends within 50 s, so 60 s are enough and fixed between that and two minutes. */
      mcpEndpoint: functionProps({ memoryMb: 1024, timeoutSeconds: 60 }, [60, 120]),
      /** Loops work as long as the function may: the longest time is the cheapest. One whole CPU. */
      callTool: functionProps({ memoryMb: 1769, timeoutSeconds: 900 }, [120, 900]),
      /** The sweep looks up to 1,000 open runs up. */
      runEvents: functionProps({ memoryMb: 512, timeoutSeconds: 300 }, [60, 900]),
    })
    .prefault({}),
  /** Of all logs, in days. Default 30. */
  logRetentionDays: z
    .union(
      RETENTION_DAYS.map((days) => z.literal(days)),
      { error: `a period of CloudWatch Logs: ${RETENTION_DAYS.join(', ')}` },
    )
    .default(30),
  /** The table cannot be deleted, by the stack neither. Default true. */
  deletionProtection: z.boolean('true or false').default(true),
  /** Values of the Origin header that may speak to the endpoint. Default none: agents are no browsers. */
  allowedOrigins: z
    .array(
      z
        .string()
        .regex(/^https?:\/\/[^/,\s*]+$/, 'origins without path, e.g. "https://inspector.example.com"'),
    )
    .default([]),
  /**
   * Puts call-tool into a network, to reach private downstream servers. From there it needs routes (NAT or VPC endpoints) to
   * DynamoDB, S3, Step Functions, Secrets Manager and the servers. Default: none.
   */
  vpc: z
    .strictObject({
      subnetIds: z
        .array(z.string().regex(/^subnet-[0-9a-f]{8,17}$/, 'ids of subnets, e.g. "subnet-0a1b2c3d"'))
        .min(1, 'at least one subnet; two in different zones for availability'),
      securityGroupIds: z
        .array(z.string().regex(/^sg-[0-9a-f]{8,17}$/, 'ids of security groups, e.g. "sg-0a1b2c3d"'))
        .min(1, 'at least one security group')
        .max(5, 'at most 5 security groups'),
    })
    .optional(),
  /** A stdio server that has secrets may stand beside other stdio servers, which could read them. Default false. */
  trustTogether: z.boolean('true or false').default(false),
  /** SNS topic that alarms are told to. Default: none; alarms are seen in CloudWatch. */
  alarmTopicArn: z
    .string()
    .regex(/^arn:aws:sns:[a-z0-9-]+:\d{12}:[\w-]+$/, 'the ARN of an SNS topic')
    .optional(),
  /** X-Ray, from the endpoint through the machine to the tool call. Default true. */
  tracing: z.boolean('true or false').default(true),
});

export const propsSchema = allProps.superRefine(({ auth, allowedOrigins }, context) => {
  const bytes = Buffer.byteLength(JSON.stringify(auth) + allowedOrigins.join());
  if (bytes <= MAX_ACCESS_BYTES) return;
  context.addIssue({
    code: 'custom',
    path: ['auth'],
    message: `auth and allowedOrigins are ${bytes} bytes of JSON, and the endpoint's environment has room for ${MAX_ACCESS_BYTES}; let principals share a role, or shorten lists of tools ("server/*")`,
  });
});

export type EngineProps = z.output<typeof propsSchema>;
export type FunctionProps = EngineProps['functions']['callTool'];
