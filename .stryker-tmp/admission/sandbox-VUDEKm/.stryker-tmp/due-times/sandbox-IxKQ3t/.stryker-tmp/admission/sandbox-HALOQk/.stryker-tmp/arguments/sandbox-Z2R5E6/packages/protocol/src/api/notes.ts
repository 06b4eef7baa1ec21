export interface Note {
  name: string;
  bytes: number;
  changed_at: string;
}
