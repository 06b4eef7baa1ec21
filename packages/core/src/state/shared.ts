import type { NewNode, Node } from "./node.ts";

/*
 * What there is beside the stores of every state when several nodes share one.
 */

export type Joined =
  | {
      kind: "joined";
      node: Node;
      /** Nobody has called it lost since it was here last: what it left running is still its own. */
      unbroken: boolean;
      /** By which nodes know each other. */
      secret: string;
    }
  /** The nodes that are live run another configuration. */
  | { kind: "other_config"; print: string; nodes: string[] };

export interface Beat {
  running: number;
  sentAt: Date;
  /** Of the configuration that the node has read by now. */
  configPrint: string;
  /** Whom it would ask if the answer to this beat never came. */
  knows: readonly string[];
}

export interface NodeStore {
  /**
   * From now on every write from here is this node's, and refused once its lease is gone. The
   * secret counts when it is the first one.
   */
  join(node: NewNode, secret: string): Promise<Joined>;
  /** Renews the lease and says who is there. Rejects with `node_fenced` when it is gone. */
  beat(beat: Beat): Promise<{ nodes: Node[]; configPrint: string }>;
  leave(): Promise<void>;
  /** Also those that left or were lost, the first to join first. */
  list(): Promise<Node[]>;
  /** Its lease has ended by the database's clock. True for the one who says it first. */
  lose(id: string, epoch: number): Promise<boolean>;
  /** Of the fleet's configuration; undefined while no node has ever joined. */
  configPrint(): Promise<string | undefined>;
  /** From now on this is the fleet's configuration. */
  rollOut(configPrint: string): Promise<void>;
}

/** Logs of jobs, for nodes on which they do not run. */
export interface OutputStore {
  /** `from` is where it stands in the log, in bytes; the same place again is nothing new. */
  append(jobId: string, from: number, text: string): Promise<void>;
  /** In order, all of it or only so many pieces. */
  read(jobId: string, from: number, most?: number): Promise<{ from: number; text: string }[]>;
  size(jobId: string): Promise<number>;
}

/** Small files that jobs keep, for nodes on which they did not run. */
export interface KeptFileStore {
  put(jobId: string, name: string, content: Uint8Array): Promise<void>;
  get(jobId: string, name: string): Promise<Uint8Array | undefined>;
}

export interface SharedStore {
  readonly nodes: NodeStore;
  readonly outputs: OutputStore;
  readonly files: KeptFileStore;
  /** With the password: for the engine that carries orders. */
  readonly connectionString: string;
  /** Best effort, to everybody who listens; some 7,000 bytes at most. */
  notify(text: string): void;
  /** `missed` when the line broke and is up again. Resolves with what ends it. */
  listen(heard: (text: string) => void, missed: () => void): Promise<() => Promise<void>>;
}
