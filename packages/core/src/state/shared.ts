import type { NewNode, Node } from "./node.ts";

/*
 * What there is beside the stores of every state when several nodes share one.
 */

export type Joined =
  | { kind: "joined"; node: Node }
  /** The nodes that are live run another configuration. */
  | { kind: "other_config"; print: string; nodes: string[] };

export interface NodeStore {
  /** From now on every write from here is this node's, and refused once its lease is gone. */
  join(node: NewNode): Promise<Joined>;
  /** Renews the lease and says who is there. Rejects with `node_fenced` when it is gone. */
  beat(beat: { running: number; sentAt: Date }): Promise<{ nodes: Node[]; configPrint: string }>;
  leave(): Promise<void>;
  /** Also those that left or were lost, the first to join first. */
  list(): Promise<Node[]>;
  /** Its lease has ended by the database's clock. True for the one who says it first. */
  lose(id: string, epoch: number): Promise<boolean>;
  /** From now on this is the fleet's configuration. */
  rollOut(configPrint: string): Promise<void>;
}

/** Logs of jobs, for nodes on which they do not run. */
export interface OutputStore {
  /** `from` is where it stands in the log, in bytes; the same place again is nothing new. */
  append(jobId: string, from: number, text: string): Promise<void>;
  read(jobId: string, from: number): Promise<{ from: number; text: string }[]>;
  size(jobId: string): Promise<number>;
}

export interface SharedStore {
  readonly nodes: NodeStore;
  readonly outputs: OutputStore;
  /** With the password: for the engine that carries orders. */
  readonly connectionString: string;
  /** Best effort, to everybody who listens; some 7,000 bytes at most. */
  notify(text: string): void;
  /** `missed` when the line broke and is up again. Resolves with what ends it. */
  listen(heard: (text: string) => void, missed: () => void): Promise<() => Promise<void>>;
}
