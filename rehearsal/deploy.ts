/**
 * Deploys a template into the stand-ins, resource by resource in the order of what each names, and lets the result run: functions in
 * their processes, status events through the rules, schedules by a clock that can be put forward, the function URL on loopback.
 *
 * Nothing here knows a name of the engine: all of them come from the template.
 */
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SchedulerClient } from '@aws-sdk/client-scheduler';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import type { JsonObject } from '../lib/blueprint/json.ts';
import type { RunningServer } from '../lib/local/http-server.ts';
import { stopAll } from '../lib/local/stop-all.ts';
import { clientConfig, LOCAL_ACCOUNT, LOCAL_REGION } from '../lib/store/aws-config.ts';
import { machineNeeds } from './actions/machine.ts';
import type { ServiceName } from './actions/services.ts';
import { onMachine } from './actions/targets.ts';
import { askCustomResource } from './custom-resource.ts';
import { createEvents, type Events } from './events.ts';
import { type FunctionUrl, serveFunctionUrl } from './function-url.ts';
import type { Caller } from './iam/evaluate.ts';
import { UnknownToRehearsal } from './iam/refusal.ts';
import { createLambdaProcess } from './lambda-process.ts';
import { createMovingClock, type MovingClock } from './moving-clock.ts';
import { createPermissions, type Permissions } from './permissions.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { functionName } from './resources/functions.ts';
import { makeResource } from './resources/makers.ts';
import { secretArn } from './resources/storage.ts';
import { type StandIns, startStandIns } from './stand-ins.ts';
import type { Assembly } from './template/assembly.ts';
import { type Resource, readTemplate } from './template/template.ts';
import { type Clients, DEPLOYER, type World } from './world.ts';

export interface DeployOptions {
  assembly: Assembly;
  /** For everything that is kept, functions' temporary files included. */
  folder: string;
  /** Path of lambda-runtime.mjs. */
  runtime: string;
  /** Variables beside the template's, e.g. to reach what stands in for an OAuth issuer. Default: none. */
  environment?: Readonly<Record<string, string>>;
  /** Lines that functions write. */
  log(line: string): void;
}

export interface Deployment {
  world: World;
  permissions: Permissions;
  recorder: Recorder;
  events: Events;
  standIns: StandIns;
  schedulerClock: MovingClock;
  outputs: JsonObject;
  /** URL on loopback of the function URL, without a slash at the end. */
  url: string;
  /** Who signs with an access key, for a URL with AWS_IAM. */
  callers: Map<string, { arn: string; userArn: string }>;
  /** What went wrong without anybody hearing of it: events that were not delivered, roles that may not be taken. */
  faults: string[];
  /** Ends everything; no process is left. */
  close(): Promise<void>;
}

/** Throws where the template has what the rehearsal does not know, or a resource cannot be made. */
export async function deploy(options: DeployOptions): Promise<Deployment> {
  const undo: (() => Promise<void> | void)[] = [];
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= stopAll(undo, 'The rehearsal did not end cleanly.');
    return closing;
  };
  try {
    return { ...(await assemble(options, undo)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function assemble(
  options: DeployOptions,
  undo: (() => Promise<void> | void)[],
): Promise<Omit<Deployment, 'close'>> {
  const { assembly, log } = options;
  const template = readTemplate(assembly.stackName, assembly.template);
  const permissions = createPermissions();
  const faults: string[] = [];
  const fault = (error: unknown): void =>
    void faults.push(error instanceof Error ? error.message : String(error));
  const secrets = new Map<string, string>();
  const recorder = createRecorder({
    names: { secretArn: (name) => secretArn({ secrets }, name) },
    ignored: new Set([DEPLOYER]),
    mayList: (accessKey, bucketArn) => {
      const role = permissions.role(accessKey);
      const needed = { action: 's3:ListBucket', resource: bucketArn, context: {} };
      return role !== undefined && permissions.decide(roleCaller(role.arn), needed).outcome === 'allowed';
    },
  });
  const functions: World['functions'] = new Map();
  const events = createEvents(permissions, fault);
  const schedulerClock = createMovingClock();
  const inName = (roleArn: string, service: string, sourceArn: string): string => {
    if (!permissions.mayAssume(roleArn, service, sourceArn)) {
      fault(`${service} may not take the role ${roleArn} for ${sourceArn}`);
    }
    return permissions.role(roleArn)?.name ?? roleArn;
  };

  const standIns = await startStandIns({
    folder: options.folder,
    schedulerClock,
    functions: Object.fromEntries(
      template.order
        .filter(({ type }) => type === 'AWS::Lambda::Function')
        .map(({ logicalId }) => {
          const properties = { FunctionName: template.property(logicalId, 'FunctionName') ?? null };
          const name = functionName(template.physicalName(logicalId), { properties });
          // The process keeps the time limit; this one is there for what does not even start.
          return [
            name,
            { handler: (event: unknown) => inProcess(functions, name, event), timeoutSeconds: 910 },
          ];
        }),
    ),
    onRoleUse: (roleArn, use, machineArn) =>
      // A distributed map's machine is named MACHINE/LABEL; the role is taken for MACHINE.
      recorder.add(
        inName(roleArn, 'states.amazonaws.com', machineArn.split('/')[0] ?? ''),
        machineNeeds(use),
      ),
    onStatusChange: (event) => events.publish(event as unknown as JsonObject),
    onScheduled: (request, by) => {
      const group = `arn:aws:scheduler:${LOCAL_REGION}:${LOCAL_ACCOUNT}:schedule-group/${by.group}`;
      const role = inName(by.roleArn, 'scheduler.amazonaws.com', group);
      recorder.add(role, [onMachine('states:StartExecution', request.stateMachineArn)]);
    },
    onError: fault,
  });
  undo.push(() => standIns.stop());
  events.connect(standIns.lambda);
  const aimed = await startFronts(recorder, standIns, undo);

  const world: World = {
    assembly,
    template,
    permissions,
    functions,
    functionRoles: new Map(),
    secrets,
    rules: events.rules,
    urls: [],
    clients: connect(standIns, undo),
    startFunction(resource, folder) {
      const lambda = createLambdaProcess(
        functionSpec(resource, folder, world, { ...aimed, ...options.environment }),
        {
          runtime: options.runtime,
          folder: options.folder,
          log,
        },
      );
      undo.push(() => lambda.close());
      return lambda;
    },
    askCustomResource(resource, wanted) {
      const token = String(resource.properties.ServiceToken);
      const lambda = functions.get(token.split(':')[6] ?? '');
      if (lambda === undefined) {
        throw new UnknownToRehearsal(resource.logicalId, token, 'functions of the template');
      }
      return askCustomResource(template.stackName, lambda, resource, wanted);
    },
  };
  for (const { logicalId } of template.order) {
    template.made(logicalId, await makeResource(world, template.resourceOf(logicalId)));
  }

  const callers: Deployment['callers'] = new Map();
  const [first] = world.urls;
  if (first === undefined || world.urls.length > 1)
    throw new Error(`the template has ${world.urls.length} function URLs`);
  const url: FunctionUrl = {
    ...first,
    callerOf(accessKey) {
      const known = callers.get(accessKey);
      return known === undefined ? undefined : { ...known, caller: roleCaller(known.arn) };
    },
    allowed: (caller, needed) => permissions.decide(caller, needed).outcome === 'allowed',
  };
  const face = await serveFunctionUrl(url, fault);
  undo.push(() => face.close());
  const outputs = template.outputs();
  return {
    world,
    permissions,
    recorder,
    events,
    standIns,
    schedulerClock,
    outputs,
    url: face.url,
    callers,
    faults,
  };
}

function roleCaller(arn: string): Caller {
  return { kind: 'aws', arn };
}

/** What a function answers, or its error with the name that it had. */
async function inProcess(functions: World['functions'], name: string, event: unknown): Promise<unknown> {
  const lambda = functions.get(name);
  if (lambda === undefined) throw new Error(`${name} is invoked before it is deployed`);
  const { payload, functionError } = await lambda.invoke(event as JsonObject);
  const answer: unknown = JSON.parse(payload);
  if (functionError === undefined) return answer;
  const { errorType, errorMessage } = answer as { errorType: string; errorMessage: string };
  throw Object.assign(new Error(errorMessage), { name: errorType });
}

async function startFronts(
  recorder: Recorder,
  standIns: StandIns,
  undo: (() => Promise<void> | void)[],
): Promise<Record<string, string>> {
  const aimed: Record<string, string> = {};
  for (const [service, target] of Object.entries(standIns.endpoints) as [ServiceName, string][]) {
    const front: RunningServer = await recorder.front(service, target);
    undo.push(() => front.close());
    aimed[`AWS_ENDPOINT_URL_${service}`] = front.url;
  }
  return aimed;
}

function functionSpec(resource: Resource, folder: string, world: World, aimed: Record<string, string>) {
  const { properties } = resource;
  const name = functionName(world.template.physicalName(resource.logicalId), resource);
  const role = world.permissions.role(String(properties.Role));
  const environment = properties.Environment as { Variables?: Record<string, string> } | undefined;
  return {
    name,
    arn: `arn:aws:lambda:${LOCAL_REGION}:${LOCAL_ACCOUNT}:function:${name}`,
    folder,
    handler: String(properties.Handler),
    environment: { ...environment?.Variables, ...aimed },
    timeoutSeconds: typeof properties.Timeout === 'number' ? properties.Timeout : 3,
    memoryMb: typeof properties.MemorySize === 'number' ? properties.MemorySize : 128,
    accessKey: role?.name ?? '',
    region: LOCAL_REGION,
  };
}

function connect({ endpoints }: StandIns, undo: (() => Promise<void> | void)[]): Clients {
  const config = (endpoint: string) =>
    clientConfig({
      region: LOCAL_REGION,
      endpoint,
      credentials: { accessKeyId: DEPLOYER, secretAccessKey: 'rehearsal' },
    });
  const clients: Clients = {
    dynamodb: new DynamoDBClient(config(endpoints.DYNAMODB)),
    s3: new S3Client({ ...config(endpoints.S3), forcePathStyle: true }),
    sfn: new SFNClient(config(endpoints.SFN)),
    scheduler: new SchedulerClient(config(endpoints.SCHEDULER)),
    secrets: new SecretsManagerClient(config(endpoints.SECRETS_MANAGER)),
  };
  undo.push(() => {
    for (const client of Object.values(clients) as { destroy(): void }[]) client.destroy();
  });
  return clients;
}

/** Where lambda-runtime.mjs is, from the project's root. */
export function runtimePath(root: string): string {
  return join(root, 'rehearsal', 'lambda-runtime.mjs');
}
