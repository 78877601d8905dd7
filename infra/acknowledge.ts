/**
 * Findings of cdk-nag that stand, each with the reason for which a reviewer may let it stand. A finding is acknowledged at the
 * construct that it is about and by its full id, so that a new wildcard is a new finding.
 */
import { Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** Acknowledges rules at a construct and below it. */
export function acknowledge(construct: IConstruct, reason: string, ...ids: string[]): void {
  Validations.of(construct).acknowledge(...ids.map((id) => ({ id, reason })));
}

/** Acknowledges that policies below a construct are given for these patterns. */
export function acknowledgeWildcards(construct: IConstruct, reason: string, ...resources: string[]): void {
  const texts = resources.map((resource) => asText(Stack.of(construct).resolve(resource)));
  acknowledge(construct, reason, ...texts.map((text) => `AwsSolutions-IAM5[Resource::${text}]`));
}

/**
 * A resource as cdk-nag names it in a finding.
 *
 *     { "Fn::Join": ["", ["arn:", { "Ref": "AWS::Partition" }, ":states:*"]] }  →  arn:<AWS::Partition>:states:*
 */
function asText(resource: unknown): string {
  if (typeof resource === 'string') return resource;
  const {
    Ref,
    'Fn::GetAtt': attribute,
    'Fn::Join': join,
  } = resource as {
    Ref?: string;
    'Fn::GetAtt'?: string[];
    'Fn::Join'?: [string, unknown[]];
  };
  if (Ref !== undefined) return `<${Ref}>`;
  if (attribute !== undefined) return `<${attribute.join('.')}>`;
  if (join !== undefined) return join[1].map(asText).join(join[0]);
  throw new Error(`a resource that has no name among cdk-nag's findings: ${JSON.stringify(resource)}`);
}
