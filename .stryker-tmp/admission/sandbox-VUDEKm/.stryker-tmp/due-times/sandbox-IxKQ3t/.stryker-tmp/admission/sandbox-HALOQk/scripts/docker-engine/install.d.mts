export function installEngine(): Promise<void>;
export function installMissing(programs: Record<string, string>, title: string): Promise<void>;
