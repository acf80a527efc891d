/** What the demonstration's process knows of the service: no setting and no secret. */
export type ChildSettings = {
  /** Only the service's requests have it. */
  secret: string
  url: string
  prefix: string
  hosts: readonly string[]
  hstsSubdomains: boolean
  places: number
}

/** `folder`: for this user's temporary files. */
export type Started = { port: number; folder: string }
