import type { NewNode, Node } from "@herdctl/protocol";

/* Additional stores for a state that several nodes share. */

export type JoinResult =
  | {
      kind: "joined";
      node: Node;
      /**
       * No node declared it lost since it was last here, so the runs that it left still belong to
       * it.
       */
      wasStillLive: boolean;
      /** The secret by which nodes authenticate each other. */
      secret: string;
    }
  /** The live nodes run a different configuration. */
  | { kind: "other_config"; configHash: string; nodes: string[] };

export interface Heartbeat {
  running: number;
  sentAt: Date;
  /** Hash of the configuration that the node has read. */
  configHash: string;
  /** The peers that the node would ask if this heartbeat got no answer. */
  knownPeers: readonly string[];
}

export interface NodeStore {
  /**
   * From now on every write of this process belongs to this node, and is refused when its lease is
   * lost. `secret` is stored if there is none yet.
   */
  join(node: NewNode, secret: string): Promise<JoinResult>;
  /** Renews the lease and returns all nodes. Rejects with `node_fenced` if the lease is lost. */
  heartbeat(heartbeat: Heartbeat): Promise<{ nodes: Node[]; configHash: string }>;
  leave(): Promise<void>;
  /** All nodes, including those that left or were lost, in the order in which they joined. */
  list(): Promise<Node[]>;
  /**
   * Declares a node lost if its lease has expired by the clock of the database. Resolves with true
   * for the first caller.
   */
  markLost(id: string, epoch: number): Promise<boolean>;
  /** Hash of the fleet's configuration; undefined if no node has ever joined. */
  configHash(): Promise<string | undefined>;
  /** Makes this the fleet's configuration. */
  setConfigHash(configHash: string): Promise<void>;
}

/** Logs of jobs, for nodes that do not run them. */
export interface OutputStore {
  /**
   * `from` is the position in the log, in bytes. Appending at the same position again has no
   * effect.
   */
  append(jobId: string, from: number, text: string): Promise<void>;
  /** In order; all of it, or at most `maxPieces` pieces. */
  read(jobId: string, from: number, maxPieces?: number): Promise<{ from: number; text: string }[]>;
  size(jobId: string): Promise<number>;
}

/** Small files that jobs keep, for nodes that did not run them. */
export interface JobFileStore {
  put(jobId: string, name: string, content: Uint8Array): Promise<void>;
  get(jobId: string, name: string): Promise<Uint8Array | undefined>;
}

export interface SharedStore {
  readonly nodes: NodeStore;
  readonly outputs: OutputStore;
  readonly files: JobFileStore;
  /** With the password; for the engine that delivers commands between nodes. */
  readonly connectionString: string;
  /** Best effort, to all listening nodes; at most about 7,000 bytes. */
  notify(text: string): void;
  /**
   * `onMissed` is called when an interrupted connection is restored. Resolves with a function that
   * stops listening.
   */
  listen(onMessage: (text: string) => void, onMissed: () => void): Promise<() => Promise<void>>;
}
