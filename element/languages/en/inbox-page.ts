// The inbox page, around the element with the list.
export type Texts = typeof texts

export const texts = () => ({
  title: 'Inbox',
  category: 'Category',
  allCategories: 'All categories',
  settings: 'Settings',
})
