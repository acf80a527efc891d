/** What the process of the demonstration needs to know of the service. Its settings and secrets are not among it. */
export type ChildSettings = {
  /** Only a request with it comes from the service. */
  secret: string
  /** The public URL, and the prefix of the pages. */
  url: string
  prefix: string
  hosts: readonly string[]
  hstsSubdomains: boolean
}

/** What the service learns of it. `folder`: for temporary files, which this user alone can read. */
export type Started = { port: number; folder: string }
