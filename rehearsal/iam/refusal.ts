/**
 * What the evaluator does not know it does not judge: it throws this, with the place in the policy, what stands there, and what
 * it does know. A wrong "allowed" would be worse than no rehearsal.
 */
export class UnknownToRehearsal extends Error {
  constructor(place: string, got: string, known: string) {
    super(
      `${place}: ${got} is not known to the rehearsal (${known}); teach it in rehearsal/ before you use it`,
    );
    this.name = 'UnknownToRehearsal';
  }
}
