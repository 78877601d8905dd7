/** Templates as the CDK writes them: order, intrinsics, names; what is not known is refused with its place. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../lib/blueprint/json.ts';
import { readAssembly } from '../../../rehearsal/template/assembly.ts';
import { resolve } from '../../../rehearsal/template/intrinsics.ts';
import { readTemplate } from '../../../rehearsal/template/template.ts';

const NAMES = {
  ref: (name: string) => (name === 'AWS::Partition' ? 'aws' : `ref-${name}`),
  attribute: (resource: string, attribute: string) => `${resource}.${attribute}`,
  condition: (name: string) => name === 'Yes',
};

describe('intrinsics', () => {
  const cases: [string, Json, Json][] = [
    ['what is none stays', { a: [1, 'x', null, { b: true }] }, { a: [1, 'x', null, { b: true }] }],
    ['Ref', { a: { Ref: 'X' } }, { a: 'ref-X' }],
    ['two keys are no intrinsic', { Ref: { a: 1 }, b: 2 }, { Ref: { a: 1 }, b: 2 }],
    ['GetAtt as a list', { 'Fn::GetAtt': ['X', 'Arn'] }, 'X.Arn'],
    ['GetAtt as a text', { 'Fn::GetAtt': 'X.A.B' }, 'X.A.B'],
    [
      'Join',
      { 'Fn::Join': [':', ['arn', { Ref: 'AWS::Partition' }, { 'Fn::Join': ['', ['a', 1]] }]] },
      'arn:aws:a1',
    ],
    ['Select of Split', { 'Fn::Select': [2, { 'Fn::Split': ['/', 'a/b/c'] }] }, 'c'],
    ['Sub', { 'Fn::Sub': `\${AWS::Partition}-\${X}-\${X.Arn}-\${!kept}` }, `aws-ref-X-X.Arn-\${kept}`],
    ['Sub with names of its own', { 'Fn::Sub': [`\${X}\${Y}`, { Y: { Ref: 'Z' } }] }, 'ref-Xref-Z'],
    ['If', { 'Fn::If': ['Yes', 'a', 'b'] }, 'a'],
    ['If not', { 'Fn::If': ['No', 'a', { Ref: 'B' }] }, 'ref-B'],
    ['NoValue takes its property away', { a: { Ref: 'AWS::NoValue' }, b: 1 }, { b: 1 }],
    ['and its entry', ['a', { 'Fn::If': ['No', 'b', { Ref: 'AWS::NoValue' }] }], ['a']],
    [
      'a policy has a Condition too',
      { Condition: { Bool: { k: 'true' } } },
      { Condition: { Bool: { k: 'true' } } },
    ],
    [
      'functions of conditions',
      {
        'Fn::And': [
          { Condition: 'Yes' },
          { 'Fn::Not': [{ 'Fn::Or': [{ Condition: 'No' }, { 'Fn::Equals': ['a', 'b'] }] }] },
        ],
      },
      true,
    ],
  ];
  it.each(cases)('%s', (_name, value, expected) => {
    expect(resolve(value, NAMES, 'at')).toEqual(expected);
  });

  const refused: [string, Json, string][] = [
    ['a function', { a: { 'Fn::ImportValue': 'x' } }, 'at/a: the intrinsic function Fn::ImportValue'],
    ['a Ref of nothing', { Ref: 1 }, 'at/Ref: 1'],
    ['a Join of one', { 'Fn::Join': [''] }, 'at/Fn::Join'],
    ['a Select beyond the end', { 'Fn::Select': [3, ['a']] }, 'at/Fn::Select'],
    ['an object in a text', { 'Fn::Join': ['', [{ a: 1, b: 2 }]] }, '{"a":1,"b":2}'],
    ['a condition that is none', { 'Fn::If': [1, 'a', 'b'] }, 'at/Fn::If: 1'],
  ];
  it.each(refused)('refuses %s', (_name, value, message) => {
    expect(() => resolve(value, NAMES, 'at')).toThrow(message);
  });
});

describe('a template', () => {
  const template = (resources: JsonObject, more: JsonObject = {}) =>
    readTemplate('stack', { Resources: resources, ...more });

  it('puts each resource after what it names', () => {
    const { order } = template({
      A: { Type: 'T', Properties: { b: { 'Fn::GetAtt': ['B', 'Arn'] } }, DependsOn: 'D' },
      B: { Type: 'T', Properties: { c: { 'Fn::Sub': `\${C}/\${AWS::Region}` } } },
      C: { Type: 'T' },
      D: { Type: 'T', DependsOn: ['C'], Properties: { b: [{ Ref: 'B' }] } },
    });
    expect(order.map((each) => each.logicalId)).toEqual(['C', 'B', 'D', 'A']);
  });

  it('refuses a circle', () => {
    const circle = { A: { Type: 'T', DependsOn: 'B' }, B: { Type: 'T', Properties: { a: { Ref: 'A' } } } };
    expect(() => template(circle)).toThrow('A → B → A');
  });

  it('leaves out what its condition excludes', () => {
    const { order } = template(
      { A: { Type: 'T', Condition: 'Here' }, B: { Type: 'T', Condition: 'There' } },
      {
        Conditions: {
          Here: { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'us-east-1'] },
          There: { 'Fn::Not': [{ Condition: 'Here' }] },
        },
      },
    );
    expect(order.map((each) => each.logicalId)).toEqual(['A']);
  });

  it('resolves properties and outputs from what was made', () => {
    const made = template(
      {
        A: { Type: 'T' },
        B: { Type: 'T', Properties: { arn: { 'Fn::GetAtt': ['A', 'Arn'] }, p: { Ref: 'P' } } },
      },
      { Outputs: { Out: { Value: { Ref: 'B' } } }, Parameters: { P: { Type: 'String', Default: 'given' } } },
    );
    expect(() => made.resourceOf('B')).toThrow('B/arn/Fn::GetAtt: the name A');
    made.made('A', { ref: 'a', attributes: { Arn: 'arn:a' } });
    expect(made.resourceOf('B').properties).toEqual({ arn: 'arn:a', p: 'given' });
    made.made('B', { ref: 'b', attributes: {} });
    expect(made.outputs()).toEqual({ Out: 'b' });
  });

  it('refuses what it does not know', () => {
    expect(() => template({}, { Transform: 'x' })).toThrow('template: the field Transform');
    expect(() => template({ A: { Type: 'T', CreationPolicy: {} } })).toThrow('A: the field CreationPolicy');
    const one = template({ A: { Type: 'T' }, B: { Type: 'T', Properties: { 'Fn::GetAtt': ['A', 'Url'] } } });
    one.made('A', { ref: 'a', attributes: {} });
    expect(() => one.resourceOf('B')).toThrow('the attribute Url of T');
  });

  it('gives the same names each time, and no two alike', () => {
    const { physicalName } = template({});
    expect(physicalName('Table')).toBe(template({}).physicalName('Table'));
    expect(physicalName('TableForRunsAndTheirStepsA')).not.toBe(physicalName('TableForRunsAndTheirStepsB'));
    expect(physicalName('Table')).toMatch(/^stack-Table-[0-9A-F]{12}$/);
  });
});

describe('an assembly', () => {
  const write = (stacks: string[]): string => {
    const folder = mkdtempSync(join(tmpdir(), 'assembly-'));
    const artifacts: JsonObject = {
      'mwe.assets': { type: 'cdk:asset-manifest', properties: { file: 'mwe.assets.json' } },
    };
    for (const name of stacks) {
      artifacts[name] = {
        type: 'aws:cloudformation:stack',
        properties: { templateFile: 'mwe.template.json' },
      };
    }
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ artifacts }));
    writeFileSync(join(folder, 'mwe.template.json'), JSON.stringify({ Resources: {} }));
    const file = { source: { path: 'asset.abc' }, destinations: { here: { objectKey: 'abc.zip' } } };
    writeFileSync(join(folder, 'mwe.assets.json'), JSON.stringify({ files: { abc: file } }));
    return folder;
  };

  it('has a template and assets by their keys', () => {
    const folder = write(['mwe']);
    const assembly = readAssembly(folder);
    expect(assembly.stackName).toBe('mwe');
    expect(assembly.template).toEqual({ Resources: {} });
    expect(assembly.assetOf('abc.zip')).toBe(join(folder, 'asset.abc'));
    expect(assembly.assetOf('other.zip')).toBeUndefined();
  });

  it.each([[[]], [['a', 'b']]])('of %j stacks is refused', (stacks) => {
    expect(() => readAssembly(write(stacks))).toThrow(`here are ${stacks.length}`);
  });
});
