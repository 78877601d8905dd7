/**
 * Names of states. A state that does a step's own work has the step's id as its name, so the console's graph reads like
 * the blueprint; every other state of the step has the id and a suffix that starts with a space.
 *
 * Step ids are unique in a blueprint, at most 64 characters long and without spaces, so names are unique in the whole
 * machine, nested processors and branches included, and within Step Functions' 80 characters.
 */

export const BEGIN = ' begin';
export const FINISH = ' finish';
export const DUPLICATE = ' duplicate';

/** Evaluates `when` and `over` of a loop that runs in lanes or as a map. */
export const itemsOf = (id: string) => `${id} items`;
/** End of a parallel, or of a loop that runs in lanes or as a map. */
export const settleOf = (id: string) => `${id} settle`;
/** Entry of a parallel, pipe or collect that can be skipped or has a time limit. */
export const enterOf = (id: string) => `${id} enter`;
export const laneOf = (id: string) => `${id} lane`;
/** Before and after the execution of a sub-workflow. */
export const prepareOf = (id: string) => `${id} prepare`;
export const adoptOf = (id: string) => `${id} adopt`;
/** The Choice that reads the answer of the task `state`. */
export const nextOf = (state: string) => `${state} next`;
/** The Wait before the task `state` is sent again. */
export const waitOf = (state: string) => `${state} wait`;
/** The Pass that ends an iteration. */
export const endOf = (id: string) => `${id} end`;
/** The Pass that ends a branch; `branch` counts from 0, the name from 1. */
export const branchEndOf = (id: string, branch: number) => `${id} end ${branch + 1}`;
