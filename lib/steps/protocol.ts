/**
 * What a compiled machine says to call-tool, as the steps see it. The contract itself is the compiler's, because a machine
 * is written by it and must be understood ever after: lib/compile/protocol.ts.
 */
export {
  ABI,
  type AdoptTask,
  type BeginTask,
  BUSY,
  type CallTask,
  DUPLICATE,
  type EnterTask,
  type FinishTask,
  type ItemsTask,
  type LaneTask,
  type LoopTask,
  type PassTask,
  type PrepareTask,
  type SettleTask,
  type StepTask,
  type Task,
  type TaskAnswer,
} from '../compile/protocol.ts';
