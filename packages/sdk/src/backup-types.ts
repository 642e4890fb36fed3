// Backups, as the REST interface tells of them.

export interface Backup {
  /** A path on the server, or s3://bucket/key. */
  readonly source: string;
  readonly created_at?: string;
  readonly log_index?: string;
  readonly term?: string;
  readonly state_hash?: string;
  /** Of the whole file. */
  readonly sha256?: string;
  readonly bytes?: number;
  readonly allocations?: number;
  readonly nodes?: number;
  readonly history_records?: number;
  readonly audit_records?: number;
  readonly server_version?: string;
  readonly format?: number;
}

export interface BackupList {
  readonly backups?: readonly Backup[];
}

export interface BackupCheck {
  readonly name: string;
  readonly ok?: boolean;
  readonly detail?: string;
}

export interface BackupVerification {
  readonly ok?: boolean;
  readonly backup?: Backup;
  readonly checks?: readonly BackupCheck[];
}

export interface BackupRestored {
  readonly backup?: Backup;
  readonly log_index?: string;
  readonly state_hash?: string;
}
