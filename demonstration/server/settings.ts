/** What the process of the demonstration knows of the service: no setting and no secret of it. */
export type ChildSettings = {
  /** Only a request of the service has it. */
  secret: string
  url: string
  prefix: string
  hosts: readonly string[]
  hstsSubdomains: boolean
  places: number
}

/** `folder`: for temporary files of this user alone. */
export type Started = { port: number; folder: string }
