// Grants and the audit log, as the server says them.

export interface Grant {
  readonly tenant: string;
  readonly user: string;
  /** tenant_admin or claiming_user. */
  readonly role: string;
  readonly granted_by?: string;
  readonly granted_at?: string;
}

export interface GrantPage {
  readonly grants?: readonly Grant[];
  readonly next_page_token?: string;
}

export interface AuditRecord {
  readonly number: string;
  readonly log_index: string;
  readonly at: string;
  readonly user: string;
  readonly event_type: string;
  readonly scope: string;
  readonly detail?: string;
  readonly tenant?: string;
  readonly allocation_id?: string;
  readonly node?: string;
  readonly data_path?: string;
  readonly previous_hash?: string;
  readonly hash: string;
  readonly signature?: string;
}

export interface AuditQuery {
  readonly user?: string | undefined;
  readonly allocation?: string | undefined;
  readonly node?: string | undefined;
  readonly tenant?: string | undefined;
  readonly data_path?: string | undefined;
  readonly event_type?: string | undefined;
  readonly scope?: string | undefined;
  /** RFC 3339. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly newest_first?: boolean | undefined;
  readonly page_size?: number | undefined;
  readonly page_token?: string | undefined;
}

export interface AuditPage {
  readonly records?: readonly AuditRecord[];
  readonly next_page_token?: string;
  /** PEM. */
  readonly public_key?: string;
}

export interface AuditVerdict {
  readonly ok?: boolean;
  readonly problem?: string;
  readonly number?: string;
  readonly records?: number;
  readonly public_key?: string;
}
