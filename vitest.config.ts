import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    // Most tests wait for processes and sockets: two files at once even where there are two processors, of which vitest would leave one.
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // As lib/store/aws-config.ts does for our own clients: some tests make theirs before it is loaded.
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
  },
});
