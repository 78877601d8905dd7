/**
 * A compiled definition in the template: a line of it a line of the template, so that `cdk diff` shows the states that a change
 * touches; where it is too large for that, compact in an asset of its own.
 *
 *     "DefinitionString": { "Fn::Join": ["\n", ["{", "  \"Comment\": …", …]] },
 *     "DefinitionSubstitutions": { "CallToolArn": { "Fn::GetAtt": […] } }
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Token } from 'aws-cdk-lib';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import type { CfnStateMachineProps } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { MAX_DEFINITION_BYTES } from '../../lib/asl/limits.ts';
import type { Compiled } from '../../lib/compile/compile.ts';
import { CALL_TOOL_KEY } from './read-folder.ts';

/** Source: CloudFormation quotas: a template in S3 has at most 1 MB. Half of it is for everything else. */
const INLINE_BYTES_OF_ALL = 512 * 1024;

/** How much of the template is left for definitions. Counts in the order in which it is asked. */
export class InlineBudget {
  #left: number;

  constructor(bytes: number = INLINE_BYTES_OF_ALL) {
    this.#left = bytes;
  }

  /** @returns false where it does not fit any more; then nothing is taken. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}

type DefinitionProps = Pick<
  CfnStateMachineProps,
  'definitionString' | 'definitionS3Location' | 'definitionSubstitutions'
>;

/** @returns what the machine's properties are, and what tells this definition from another. */
export function definitionProps(
  scope: Construct,
  { definition, text }: Compiled,
  callToolArn: string,
  budget: InlineBudget,
): { props: DefinitionProps; content: string } {
  const definitionSubstitutions = { [CALL_TOOL_KEY]: callToolArn };
  const pretty = JSON.stringify(definition, null, 2);
  const lines = pretty.split('\n');
  // As the CLI writes the template: every line a string with its quotes escaped, a comma, and its own indentation.
  const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(JSON.stringify(line)) + 10, 0);
  if (Buffer.byteLength(pretty) <= MAX_DEFINITION_BYTES && budget.take(bytes)) {
    // A token of its own: the CDK's Fn.join would make one line of many texts.
    const definitionString = Token.asString({ 'Fn::Join': ['\n', lines] });
    return { props: { definitionString, definitionSubstitutions }, content: text };
  }
  const { s3BucketName, s3ObjectKey } = assetOf(scope, text);
  const definitionS3Location = { bucket: s3BucketName, key: s3ObjectKey };
  return { props: { definitionS3Location, definitionSubstitutions }, content: text };
}

function assetOf(scope: Construct, text: string): Asset {
  const folder = mkdtempSync(join(tmpdir(), 'mwe-definition-'));
  try {
    const path = join(folder, 'definition.json');
    writeFileSync(path, text);
    return new Asset(scope, 'Definition', { path });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
