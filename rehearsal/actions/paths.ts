/**
 * The services whose operation is a method and a path: S3 (path style), Lambda, EventBridge Scheduler.
 *
 * Source: service authorization reference of each; S3 API reference, "HeadObject" (it needs GetObject), "ListObjectsV2".
 */
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { UnknownToRehearsal } from '../iam/refusal.ts';
import { type Needed, passRole, type ServiceRequest } from './needed.ts';

const OBJECT_ACTIONS: Readonly<Record<string, string>> = {
  GET: 's3:GetObject',
  HEAD: 's3:GetObject',
  PUT: 's3:PutObject',
  DELETE: 's3:DeleteObject',
};
/** What the SDK puts into a query and no action hangs on. */
const S3_QUERY = new Set([
  'x-id',
  'list-type',
  'prefix',
  'max-keys',
  'continuation-token',
  'start-after',
  'delimiter',
]);
/** Headers by which a request asks for more than its method says. */
const S3_HEADERS = [
  'x-amz-tagging',
  'x-amz-acl',
  'x-amz-copy-source',
  'x-amz-server-side-encryption-aws-kms-key-id',
  'x-amz-object-lock-mode',
];

export function s3Needs(request: ServiceRequest): Needed[] {
  const { path, query } = split(request.url);
  const [, bucket = '', key = ''] = /^\/([^/]+)\/?(.*)$/s.exec(decodeURIComponent(path)) ?? [];
  const more = [
    ...[...query.keys()].filter((name) => !S3_QUERY.has(name)),
    ...S3_HEADERS.filter((name) => request.headers[name] !== undefined),
  ];
  const action = OBJECT_ACTIONS[request.method];
  if (bucket === '' || more.length > 0) throw unknown(request, more);
  const arn = `arn:aws:s3:::${bucket}`;
  if (key !== '' && action !== undefined) return [{ action, resource: `${arn}/${key}`, context: {} }];
  if (key !== '' || request.method !== 'GET') throw unknown(request, more);
  const prefix = query.get('prefix');
  return [
    { action: 's3:ListBucket', resource: arn, context: prefix === null ? {} : { 's3:prefix': prefix } },
  ];
}

const INVOKE = /^\/2015-03-31\/functions\/([^/]+)\/invocations\/?$/;

export function lambdaNeeds(request: ServiceRequest): Needed[] {
  const { path } = split(request.url);
  const name = INVOKE.exec(path)?.[1];
  if (request.method !== 'POST' || name === undefined) throw unknown(request);
  return [{ action: 'lambda:InvokeFunction', resource: functionArn(decodeURIComponent(name)), context: {} }];
}

/** Of a function by name or ARN. */
export function functionArn(name: string): string {
  if (name.startsWith('arn:')) return name;
  return `arn:aws:lambda:${LOCAL_REGION}:${LOCAL_ACCOUNT}:function:${name}`;
}

const SCHEDULE_ACTIONS: Readonly<Record<string, string>> = {
  POST: 'scheduler:CreateSchedule',
  PUT: 'scheduler:UpdateSchedule',
  GET: 'scheduler:GetSchedule',
  DELETE: 'scheduler:DeleteSchedule',
};

export function schedulerNeeds(request: ServiceRequest): Needed[] {
  const { path, query } = split(request.url);
  const [, collection, name] = path.split('/').map(decodeURIComponent);
  const action = SCHEDULE_ACTIONS[request.method];
  const { body } = request;
  const prefix = `arn:aws:scheduler:${LOCAL_REGION}:${LOCAL_ACCOUNT}`;
  if (collection === 'schedules' && name === undefined && request.method === 'GET') {
    return [{ action: 'scheduler:ListSchedules', resource: '*', context: {} }];
  }
  if (collection !== 'schedules' || name === undefined || action === undefined) throw unknown(request);
  const group = query.get('groupName') ?? (typeof body.GroupName === 'string' ? body.GroupName : 'default');
  const role = roleOf(body.Target);
  return [
    { action, resource: `${prefix}:schedule/${group}/${name}`, context: {} },
    ...(role === undefined ? [] : [passRole(role, 'scheduler.amazonaws.com')]),
  ];
}

function roleOf(target: unknown): string | undefined {
  const role =
    typeof target === 'object' && target !== null && 'RoleArn' in target ? target.RoleArn : undefined;
  return typeof role === 'string' ? role : undefined;
}

function split(url: string): { path: string; query: URLSearchParams } {
  const [path = '/', ...rest] = url.split('?');
  return { path, query: new URLSearchParams(rest.join('?')) };
}

function unknown(request: ServiceRequest, more: readonly string[] = []): UnknownToRehearsal {
  const asks = more.length === 0 ? '' : ` with ${more.join(', ')}`;
  return new UnknownToRehearsal(
    `${request.method} ${split(request.url).path}${asks}`,
    'what it needs allowed',
    'rehearsal/actions/paths.ts',
  );
}
