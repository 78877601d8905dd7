/**
 * `npm run generate`: writes every committed file that is made from code. Tests compare each with what would be written.
 */
import { writeFile } from 'node:fs/promises';
import { renderErrorsDoc } from '../lib/blueprint/errors-doc.ts';
import { renderJsonSchema } from '../lib/blueprint/json-schema.ts';

const FILES: Record<string, () => string> = {
  'docs/errors.md': renderErrorsDoc,
  'schema/blueprint.schema.json': renderJsonSchema,
};

for (const [path, render] of Object.entries(FILES)) {
  await writeFile(new URL(path, `file://${process.cwd()}/`), render());
  console.log(path);
}
