/**
 * The engine table: keys and indexes as lib/store/table.ts defines them, for here and for one machine. It outlives the stack.
 *
 * Encryption at rest is DynamoDB's own (an AWS-owned key): it costs nothing, no key policy can lock the engine out of its own
 * records, and who may read the table may read it is decided by IAM alone. Rights go to the table and to each index by name.
 */
import { CfnDeletionPolicy } from 'aws-cdk-lib';
import { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { createTableInput, type INDEXES, TTL_ATTRIBUTE } from '../lib/store/table.ts';

/** What the code calls; lib/store/item.ts has all of it. */
export type TableAction = 'GetItem' | 'BatchGetItem' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'Query';
export type IndexName = (typeof INDEXES)[keyof typeof INDEXES]['name'];

export class EngineTable extends Construct {
  readonly tableName: string;
  readonly #arn: string;

  constructor(scope: Construct, id: string, props: { deletionProtection: boolean }) {
    super(scope, id);
    const input = createTableInput('');
    const table = new CfnTable(this, 'Table', {
      attributeDefinitions: lowerCamel(input.AttributeDefinitions),
      keySchema: lowerCamel(input.KeySchema),
      globalSecondaryIndexes: lowerCamel(input.GlobalSecondaryIndexes),
      billingMode: input.BillingMode,
      timeToLiveSpecification: { attributeName: TTL_ATTRIBUTE, enabled: true },
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtectionEnabled: props.deletionProtection,
    });
    table.cfnOptions.deletionPolicy = CfnDeletionPolicy.RETAIN;
    table.cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN;
    this.tableName = table.ref;
    this.#arn = table.attrArn;
  }

  /** Lets a role do `actions` on items, and read the indexes named. */
  grant(role: Role, actions: readonly TableAction[], indexes: readonly IndexName[]): void {
    role.addToPolicy(
      new PolicyStatement({
        sid: 'Records',
        actions: actions.map((action) => `dynamodb:${action}`),
        resources: [this.#arn],
      }),
    );
    if (indexes.length === 0) return;
    role.addToPolicy(
      new PolicyStatement({
        sid: 'ListsByTime',
        actions: ['dynamodb:Query'],
        resources: indexes.map((index) => `${this.#arn}/index/${index}`),
      }),
    );
  }
}

/**
 * CloudFormation's members as the CDK's L1 writes them: `AttributeName` → `attributeName`, all the way down. `T` is what the L1
 * wants there; that it is so follows from the input, which DynamoDB's own types check.
 */
function lowerCamel<T>(value: unknown): T {
  return renamed(value) as T;
}

function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key.charAt(0).toLowerCase() + key.slice(1), renamed(each)]),
  );
}
