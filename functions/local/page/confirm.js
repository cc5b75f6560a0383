/** A question before something is gone for good. */

import { h } from './dom.js';
import { t } from './i18n.js';

/**
 * @param {string} question
 * @returns {Promise<boolean>}
 */
export function confirmed(question) {
  return new Promise((resolve) => {
    const id = 'confirm-question';
    const dialog = h(
      'dialog',
      { class: 'confirm', 'aria-labelledby': id },
      h('p', { id }, question),
      h(
        'form',
        { method: 'dialog', class: 'confirm-buttons' },
        h('button', { value: '', class: 'button', autofocus: true }, t('confirm.no')),
        h('button', { value: 'yes', class: 'button button-danger' }, t('confirm.yes')),
      ),
    );
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
