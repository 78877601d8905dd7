import { describe, expect, it } from 'vitest';
import type { Json } from '../../lib/blueprint/json.ts';
import { resolveParams } from '../../lib/blueprint/params.ts';
import type { ParamDeclaration } from '../../lib/blueprint/types.ts';

const n: ParamDeclaration = { type: 'integer' };

describe('resolveParams', () => {
  it.each([
    ['of many that do not exist', Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`p${i}`, 1]))],
    ['of a very long one', { ['x'.repeat(1_000_000)]: 1 }],
  ])('keeps its sentences short: %s', (_, given) => {
    const declared = Object.fromEntries(Array.from({ length: 1000 }, (__, i) => [`declared${i}`, n]));
    const { problems } = resolveParams({ ...declared }, given as Json);
    const unknown = problems.filter((problem) => !problem.includes('required'));
    expect(unknown.join('; ').length).toBeLessThan(5000);
    expect(unknown[0]).toContain('the workflow has no such parameter');
  });

  it.each(['__proto__', 'constructor', 'toString'])('takes %s for a name like any other', (name) => {
    const given = JSON.parse(`{ "${name}": 1 }`) as Json;
    expect(resolveParams({}, given).problems).toEqual([
      `params/${name}: the workflow has no such parameter; it has none`,
    ]);
    expect(resolveParams({ n }, {}).problems).toEqual(['params/n: required (integer) and missing']);
  });
});
