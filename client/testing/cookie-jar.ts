// A fetch that keeps cookies, which Node's does not.
const underlying = globalThis.fetch

/** Does what a browser does for one origin, if the request includes credentials. */
export class CookieJar {
  readonly #kept = new Map<string, string>()

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
