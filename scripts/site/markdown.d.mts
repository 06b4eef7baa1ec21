export function titled(text: string): { title: string; body: string };
export function withTargets(text: string, replace: (target: string) => string): string;
export function targetsOf(text: string): string[];
export function headingsOf(text: string): string[];
