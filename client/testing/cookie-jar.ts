// For tests: a fetch that keeps cookies, as in a browser. The fetch of Node does not.
const underlying = globalThis.fetch

/** Keeps and sends cookies as a browser does for one origin, if the request includes credentials. */
export class CookieJar {
  readonly #kept = new Map<string, string>()

  /** The value of the Cookie header field. */
  get cookie(): string {
    return [...this.#kept].map((pair) => pair.join('=')).join('; ')
  }

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers)
    const carries = init.credentials === 'include'
    if (carries && this.cookie !== '') headers.set('cookie', this.cookie)
    const response = await underlying(url, { ...init, headers })
    for (const line of carries ? response.headers.getSetCookie() : []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') this.#kept.delete(name)
      else this.#kept.set(name, value)
    }
    return response
  }
}
