/**
 * Properties look at other examples in every run, which is how they find things; but whether a change lands must not hang on
 * luck. In CI (`CI=true`) they look at the same examples each time; `FC_SEED=n` takes others there.
 */
import fc from 'fast-check';

if (process.env.CI === 'true') fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 20_261_130) });
