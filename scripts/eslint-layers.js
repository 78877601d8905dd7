/**
 * ESLint rule: imports flow one way,
 *   functions, infra, rehearsal, cli → mcp, engine, steps, local → compile, downstream, store, telemetry, schedule
 *   → expression, blueprint, asl
 * A folder may import from its own layer and from those to its right, never back.
 *
 * Within the second layer there is an order too, for what is true of them: the face uses the engine, the engine the steps'
 * wire contract; the stand-ins know nothing of any of them.
 */
import { dirname, relative, resolve } from 'node:path';

const LAYERS = [
  ['functions', 'infra', 'rehearsal', 'lib/cli'],
  ['lib/mcp', 'lib/engine', 'lib/steps', 'lib/local'],
  ['lib/compile', 'lib/downstream', 'lib/store', 'lib/telemetry', 'lib/schedule'],
  ['lib/expression', 'lib/blueprint', 'lib/asl', 'lib/http'],
];
/** Within a layer: what may not import what. */
const FORBIDDEN = [
  ['lib/engine', 'lib/mcp'],
  ['lib/steps', 'lib/engine'],
  ['lib/steps', 'lib/mcp'],
  ['lib/local', 'lib/mcp'],
  ['lib/local', 'lib/engine'],
  ['lib/local', 'lib/steps'],
  ['lib/mcp', 'lib/local'],
  ['lib/engine', 'lib/local'],
  ['lib/steps', 'lib/local'],
  ['lib/store', 'lib/compile'],
  ['lib/store', 'lib/downstream'],
  ['lib/downstream', 'lib/compile'],
  ['lib/downstream', 'lib/store'],
  ['lib/schedule', 'lib/compile'],
  ['lib/schedule', 'lib/downstream'],
  ['lib/schedule', 'lib/store'],
  ['lib/schedule', 'lib/telemetry'],
  ['lib/schedule', 'lib/expression'],
  ['lib/schedule', 'lib/asl'],
  ['lib/blueprint', 'lib/expression'],
  ['lib/asl', 'lib/expression'],
];

function placeOf(root, file) {
  const path = relative(root, file).split('\\').join('/');
  for (const [layer, folders] of LAYERS.entries()) {
    const folder = folders.find((name) => path.startsWith(`${name}/`));
    if (folder !== undefined) return { layer, folder };
  }
  return undefined;
}

export const oneWay = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { back: '{{from}} must not import from {{to}}: imports flow one way (docs/architecture.md)' },
  },
  create(context) {
    const from = placeOf(context.cwd, context.filename);
    if (from === undefined) return {};
    const check = (node) => {
      const source = node.source?.value;
      if (typeof source !== 'string' || !source.startsWith('.')) return;
      const to = placeOf(context.cwd, resolve(dirname(context.filename), source));
      if (to === undefined) return;
      const back = to.layer < from.layer || FORBIDDEN.some(([a, b]) => a === from.folder && b === to.folder);
      if (back) context.report({ node, messageId: 'back', data: { from: from.folder, to: to.folder } });
    };
    return { ImportDeclaration: check, ExportNamedDeclaration: check, ExportAllDeclaration: check };
  },
};
