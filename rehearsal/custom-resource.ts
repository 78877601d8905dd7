/**
 * CloudFormation's side of a custom resource: it invokes the function with an event that has a ResponseURL, and the function puts
 * its answer there. Source: CloudFormation user guide, "Custom resource reference".
 */
import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../lib/blueprint/json.ts';
import { readRequestBody, startServer } from '../lib/local/http-server.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../lib/store/aws-config.ts';
import type { LambdaProcess } from './lambda-process.ts';
import type { Resource } from './template/template.ts';

/** CloudFormation's own limit on an answer. */
const MAX_ANSWER_BYTES = 4096;

/** What CloudFormation wants done; of a change and an end it says which resource is meant. */
export type Wanted =
  | { RequestType: 'Create' }
  | { RequestType: 'Update'; PhysicalResourceId: string; OldResourceProperties: JsonObject }
  | { RequestType: 'Delete'; PhysicalResourceId: string };

/** Answers what the function told; throws where that is a failure, none at all, or more than CloudFormation takes. */
export async function askCustomResource(
  stackName: string,
  lambda: LambdaProcess,
  resource: Resource,
  wanted: Wanted,
): Promise<JsonObject> {
  let told: unknown;
  const path = `/${randomUUID()}`;
  const server = await startServer(async (request, response) => {
    const body = await readRequestBody(request, MAX_ANSWER_BYTES);
    const mine = request.method === 'PUT' && request.url === path;
    if (mine) told = JSON.parse(body.toString('utf8'));
    response.writeHead(mine ? 200 : 403, { 'Content-Length': 0 }).end();
  });
  try {
    const { ServiceToken, ...properties } = resource.properties;
    const request = {
      ...wanted,
      RequestId: randomUUID(),
      StackId: `arn:aws:cloudformation:${LOCAL_REGION}:${LOCAL_ACCOUNT}:stack/${stackName}/rehearsal`,
      LogicalResourceId: resource.logicalId,
      ResourceType: resource.type,
      ResponseURL: `${server.url}${path}`,
      ServiceToken: ServiceToken ?? null,
      ...('OldResourceProperties' in wanted
        ? { OldResourceProperties: texts(wanted.OldResourceProperties) }
        : {}),
      ResourceProperties: { ServiceToken: ServiceToken ?? null, ...texts(properties) },
    };
    const { payload, functionError } = await lambda.invoke(request);
    if (functionError !== undefined) throw new Error(`${resource.label}: the function failed: ${payload}`);
  } finally {
    await server.close();
  }
  if (!isJsonObject(told)) throw new Error(`${resource.label}: the function told CloudFormation nothing`);
  if (told.Status !== 'SUCCESS' || typeof told.PhysicalResourceId !== 'string') {
    throw new Error(`${resource.label}: ${String(told.Reason ?? JSON.stringify(told))}`);
  }
  return told;
}

/** CloudFormation hands numbers and booleans on as texts, all the way down. */
function texts(properties: JsonObject): JsonObject {
  return JSON.parse(
    JSON.stringify(properties, (_key, value: unknown) =>
      typeof value === 'number' || typeof value === 'boolean' ? String(value) : value,
    ),
  ) as JsonObject;
}
