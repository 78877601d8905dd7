/** Only what Biome cannot see: rules that need types, and the direction of imports. */
import tseslint from 'typescript-eslint';
import { oneWay } from './scripts/eslint-layers.js';

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'cdk.out/'] },
  {
    files: ['**/*.ts'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { projectService: true },
    },
    plugins: { '@typescript-eslint': tseslint.plugin, layers: { rules: { 'one-way': oneWay } } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      'layers/one-way': 'error',
    },
  },
);
