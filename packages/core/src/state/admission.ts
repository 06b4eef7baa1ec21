import type { ChainSpent } from "./chain.ts";
import type { Delivery, WantedDelivery } from "./delivery.ts";
import type { Job, LiveJob, NewJob } from "./job.ts";
import type { Outcome } from "./outcome.ts";
import type { Day, Spending } from "./spending.ts";

/** A job that asks to be admitted. */
export interface Application {
  job: NewJob;
  decide: AdmissionDecider;
  /** The due time that brought it: its record in the ledger is made together with the job. */
  due?: { due_at: string; through: string };
  /** The delivery that brought it, recorded together with the job. */
  delivery?: WantedDelivery;
  /** The day whose spending the decider wants to know. */
  day?: Day;
  /** The decider looks at what is live: of a busy webhook there may be thousands. */
  wantsLive?: boolean;
}

/** Called within the transaction: it must be quick and pure. */
export type AdmissionDecider = (snapshot: AdmissionSnapshot) => AdmissionDecision;

export interface AdmissionSnapshot {
  /** What is live of the job's agent and schedule, if the application wants it and has a schedule. */
  live: readonly LiveJob[];
  spending?: Spending;
  /** Of the chain that the job would be part of; nothing when it would begin one. */
  chain?: ChainSpent;
}

export type AdmissionDecision =
  | {
      kind: "accept";
      cancel: string[];
      /** What its runs may cost at most. */
      maxUsd?: number;
    }
  | { kind: "skip"; outcome: Outcome };

export interface Admitted {
  job: Job;
  /** False when the key had been seen before: this is the first job's record. */
  created: boolean;
  /** Jobs that have to make way for this one. */
  cancel: string[];
  /** The record of the delivery that brought it. */
  delivery?: Delivery;
}
