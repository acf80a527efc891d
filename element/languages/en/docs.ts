// The page of the API's description, at `/docs`. The description itself is in English only.
export type Texts = typeof texts

export const texts = () => ({
  intro: 'Every route of the API, its shapes and examples to copy.',
  filter: 'Filter the routes',
  noMatch: 'No route matches.',
  copy: 'Copy',
  copied: 'Copied',
  notCopied: 'The browser does not allow it',
})
