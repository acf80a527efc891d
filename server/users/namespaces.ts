// How rows say which application they belong to, on both engines: as text before an issuer, so that the unique index keeps the
// applications apart and a row of no application costs nothing more, and in a column beside the key of a notification.

/** It is in no name of an application, and no client can write it into an issuer. */
const end = '\u0001'

/** What the column `issuer` of a user begins with: the application; empty for none. */
export function prefixOf(application: string | undefined): string {
  return application ? `${application}${end}` : ''
}

/** The column `issuer` of a user. */
export function namespaceOf({ application, issuer = '' }: Namespace): string {
  return `${prefixOf(application)}${issuer}`
}
/** What the column `issuer` of a user says. */
export function splitNamespace(namespace: string): { application: string; issuer: string } {
  const at = namespace.indexOf(end)
  return { application: namespace.slice(0, Math.max(at, 0)), issuer: namespace.slice(at + 1) }
}
type Namespace = { application?: string | undefined; issuer?: string | undefined }

/** The columns of a notification's key: that of a delivery of an application is another than the same key of another application, or of none. */
export function keyColumns({ application = '', key }: { application?: string | undefined; key: string | null }) {
  return { key, application: key === null ? '' : application }
}
