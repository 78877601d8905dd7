/** What a deployment consists of while it is made and while the scenarios use it. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import type { SchedulerClient } from '@aws-sdk/client-scheduler';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SFNClient } from '@aws-sdk/client-sfn';
import type { JsonObject } from '../lib/blueprint/json.ts';
import type { Wanted } from './custom-resource.ts';
import type { FunctionUrl } from './function-url.ts';
import type { LambdaProcess } from './lambda-process.ts';
import type { Permissions } from './permissions.ts';
import type { Assembly } from './template/assembly.ts';
import type { Identity, Resource, Template } from './template/template.ts';

/** Clients of the stand-ins themselves, past the recorder: for who deploys and for who looks. */
export interface Clients {
  dynamodb: DynamoDBClient;
  s3: S3Client;
  sfn: SFNClient;
  scheduler: SchedulerClient;
  secrets: SecretsManagerClient;
}

/** Access key of whoever uses these clients; the recorder does not note it. */
export const DEPLOYER = 'rehearsal';

/** A rule of the default event bus. */
export interface EventRule {
  arn: string;
  name: string;
  /** Undefined: it runs by a timer. */
  pattern?: JsonObject;
  /** ARNs of functions. */
  targets: readonly string[];
}

export interface World {
  assembly: Assembly;
  template: Template;
  clients: Clients;
  permissions: Permissions;
  /** By name. */
  functions: Map<string, LambdaProcess>;
  /** ARN of a function's role, by the function's name. */
  functionRoles: Map<string, string>;
  rules: EventRule[];
  urls: Omit<FunctionUrl, 'callerOf' | 'allowed'>[];
  /** ARN by name. */
  secrets: Map<string, string>;
  /** Makes the process of a function that the template declares. */
  startFunction(resource: Resource, folder: string): LambdaProcess;
  /** Invokes a custom resource's function, answers what it told CloudFormation. Throws where that is a failure. */
  askCustomResource(resource: Resource, wanted: Wanted): Promise<JsonObject>;
}

/** Makes a resource of one type and says what it is to others. */
export type Maker = (world: World, resource: Resource) => Promise<Identity> | Identity;
