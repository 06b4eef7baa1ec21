export function installEngine(): Promise<void>;
export function installMissing(programs: Record<string, string>, what: string): Promise<void>;
