// How rows say which application they belong to, on both engines: as text before an issuer or a notification key, so that the unique
// indexes keep the applications apart and a row of no application costs nothing more.

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
type Namespace = { application?: string | undefined; issuer?: string | undefined }

/** The column `key` of a notification. A client may write any key, so one that looks like that of an application gets an empty name. */
export function storedKey({ application = '', key }: { application?: string | undefined; key: string | null }) {
  return key === null || (application === '' && !key.startsWith(end)) ? key : `${end}${application}${end}${key}`
}
