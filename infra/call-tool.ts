/**
 * call-tool: works on the tasks of machines and is the only one that connects to downstream servers, whose stdio programs run in
 * it. So its role is the one that matters most: no machine can be made or started with it.
 */
import { Aws, Duration } from 'aws-cdk-lib';
import { Effect, Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { VARIABLES } from '../functions/variables.ts';
import { acknowledgeWildcards } from './acknowledge.ts';
import type { EngineBucket } from './engine-bucket.ts';
import { EngineFunction, type FunctionSetting } from './engine-function.ts';
import type { EngineTable } from './engine-table.ts';
import type { Arns } from './names.ts';
import type { EngineProps } from './props.ts';

export interface CallToolProps {
  setting: FunctionSetting;
  asset: string;
  props: EngineProps;
  arns: Arns;
  table: EngineTable;
  bucket: EngineBucket;
  /** Names of the secrets that mcp.json takes values from. */
  secrets: readonly string[];
}

/** What Lambda does with a role's rights to put a function into a network. Source: Lambda developer guide, "Execution role for VPC". */
const NETWORK_ACTIONS = [
  'ec2:CreateNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:DeleteNetworkInterface',
  'ec2:AssignPrivateIpAddresses',
  'ec2:UnassignPrivateIpAddresses',
];

export class CallTool extends Construct {
  readonly function: EngineFunction;
  readonly functionArn: string;

  constructor(scope: Construct, id: string, options: CallToolProps) {
    super(scope, id);
    const { setting, asset, props } = options;
    this.function = new EngineFunction(this, 'Function', {
      setting,
      name: 'call-tool',
      description: 'Calls downstream MCP servers for the tasks of state machines',
      asset,
      size: props.functions.callTool,
      timeout: Duration.seconds(props.functions.callTool.timeoutSeconds),
      environment: {
        [VARIABLES.inspect]: props.inspect,
        MWE_MAX_ATTEMPTS: String(props.limits.maxAttempts),
        MWE_MAX_SUB_RUNS: String(props.limits.maxSubRuns),
        MWE_MAX_DEPTH: String(props.limits.maxDepth),
        MWE_MAX_RUN_SECONDS: String(props.limits.maxRunSeconds),
      },
    });
    this.functionArn = this.function.function.functionArn;
    this.#grant(options);
    if (props.vpc !== undefined) this.#joinNetwork(props.vpc);
  }

  #grant({ table, bucket, arns, secrets }: CallToolProps): void {
    const { function: own } = this;
    table.grant(own.role, ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem', 'Query'], []);
    bucket.grant(own.role, { read: ['documents', 'values'], write: ['values', 'blobs'] });
    for (const [index, name] of secrets.entries()) {
      // Secrets Manager adds a hyphen and six characters to the name that a user gives.
      const arn = `arn:${Aws.PARTITION}:secretsmanager:${Aws.REGION}:${Aws.ACCOUNT_ID}:secret:${name}-??????`;
      own.allow(`ServerSecret${index}`, ['secretsmanager:GetSecretValue'], arn);
    }
    own.allow('FollowSubWorkflows', ['states:DescribeExecution', 'states:RedriveExecution'], arns.executions);
    acknowledgeWildcards(
      own.role,
      "Sub-workflows' executions are made at run time under this deployment's prefix, which no other deployment shares.",
      arns.executions,
    );
  }

  /**
   * Lambda itself makes the network interfaces with the function's role. The function's own code must not: such calls carry the
   * function's ARN. The denial is a policy of its own, which the function does not wait for, since it names the function.
   */
  #joinNetwork(vpc: NonNullable<EngineProps['vpc']>): void {
    const { function: own } = this;
    own.allow('JoinNetwork', NETWORK_ACTIONS, '*');
    acknowledgeWildcards(
      own.role,
      'Lambda makes the network interfaces of a function with its role, and the actions are given for "*" in its developer guide; a second policy denies them to the code of the function.',
      '*',
    );
    new Policy(this, 'CodeStaysOffTheNetwork', {
      roles: [own.role],
      statements: [
        new PolicyStatement({
          sid: 'CodeStaysOffTheNetwork',
          effect: Effect.DENY,
          actions: NETWORK_ACTIONS,
          resources: ['*'],
          conditions: { ArnEquals: { 'lambda:SourceFunctionArn': this.functionArn } },
        }),
      ],
    });
    own.resource.vpcConfig = { subnetIds: vpc.subnetIds, securityGroupIds: vpc.securityGroupIds };
  }
}
