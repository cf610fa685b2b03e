/*
 * table_storage.c - the rows of PersistentVolumes, PersistentVolumeClaims and StorageClasses.
 */
#include "daemon/table/table_cell.h"

/* ---- parts of volumes and claims ---- */

static struct str annotation_get(const struct table_row *row, struct str key)
{
    struct str value = {0};
    json_member_get(field_get(row->metadata, "annotations"), key, &value);
    return value;
}

static void put_phase(struct table_row *row)
{
    if (field_get(row->metadata, "deletionTimestamp").len)
        cell_put_text(row, "Terminating");
    else
        cell_put_string(row, field_get(row->status, "phase"), "");
}

/* The annotation was used before Kubernetes 1.6, and still counts first. */
static void put_class(struct table_row *row)
{
    struct str beta = annotation_get(row, STR("volume.beta.kubernetes.io/storage-class"));
    cell_put_string(row, beta.len ? beta : field_get(row->spec, "storageClassName"), "");
}

/* Short names, always in this order. */
static void put_access_modes(struct table_row *row, struct str modes)
{
    static const struct {
        struct str mode;
        const char *name;
    } names[] = {
        {FIELD_NAME("ReadWriteOnce"), "RWO"},
        {FIELD_NAME("ReadOnlyMany"), "ROX"},
        {FIELD_NAME("ReadWriteMany"), "RWX"},
        {FIELD_NAME("ReadWriteOncePod"), "RWOP"},
    };
    const char *separator = "";
    cell_open(row);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct json_walk walk;
        struct str item;
        bool found = false;
        json_items_start(&walk, modes);
        while (!found && json_items_next(&walk, &item))
            found = value_is(item, names[i].mode);
        if (!found)
            continue;
        text_puts(row, separator);
        text_puts(row, names[i].name);
        separator = ",";
    }
    cell_close(row);
}

/* ---- PersistentVolumes ---- */

static const struct table_column volume_columns[] = {
    TABLE_NAME,
    {"Capacity", "string", "", 0, "size of the volume"},
    {"Access Modes", "string", "", 0, "how the volume can be mounted"},
    {"Reclaim Policy", "string", "", 0, "what happens to the volume after its claim is deleted"},
    {"Status", "string", "", 0, "phase of the volume"},
    {"Claim", "string", "", 0, "claim to which the volume is bound"},
    {"StorageClass", "string", "", 0, "storage class of the volume"},
    {"VolumeAttributesClass", "string", "", 0, "class of the volume's attributes"},
    {"Reason", "string", "", 0, "reason of the phase"},
    TABLE_AGE,
    {"VolumeMode", "string", "", 1, "Filesystem or Block"},
};

static void put_claim(struct table_row *row)
{
    struct str claim = field_get(row->spec, "claimRef");
    cell_open(row);
    if (claim.len) {
        text_put(row, field_get(claim, "namespace"));
        buf_putc(row->out, '/');
        text_put(row, field_get(claim, "name"));
    }
    cell_close(row);
}

static void volume_put_cells(struct table_row *row)
{
    cell_put_name(row);
    cell_put_string(row, field_get(row->spec, "capacity.storage"), "0");
    put_access_modes(row, field_get(row->spec, "accessModes"));
    cell_put_string(row, field_get(row->spec, "persistentVolumeReclaimPolicy"), "");
    put_phase(row);
    put_claim(row);
    put_class(row);
    cell_put_optional(row, field_get(row->spec, "volumeAttributesClassName"), "<unset>");
    cell_put_string(row, field_get(row->status, "reason"), "");
    cell_put_age(row);
    cell_put_optional(row, field_get(row->spec, "volumeMode"), "<unset>");
}

const struct table_printer table_persistentvolumes =
    TABLE_PRINTER("", "persistentvolumes", volume_columns, volume_put_cells);

/* ---- PersistentVolumeClaims ---- */

static const struct table_column claim_columns[] = {
    TABLE_NAME,
    {"Status", "string", "", 0, "phase of the claim"},
    {"Volume", "string", "", 0, "volume to which the claim is bound"},
    {"Capacity", "string", "", 0, "size of the volume"},
    {"Access Modes", "string", "", 0, "how the volume can be mounted"},
    {"StorageClass", "string", "", 0, "storage class of the claim"},
    {"VolumeAttributesClass", "string", "", 0, "class of the volume's attributes"},
    TABLE_AGE,
    {"VolumeMode", "string", "", 1, "Filesystem or Block"},
};

static void claim_put_cells(struct table_row *row)
{
    struct str volume = field_get(row->spec, "volumeName");
    bool bound = !value_is_blank(volume);
    cell_put_name(row);
    put_phase(row);
    cell_put_string(row, volume, "");
    if (bound)
        cell_put_string(row, field_get(row->status, "capacity.storage"), "0");
    else
        cell_put_text(row, "");
    put_access_modes(row, bound ? field_get(row->status, "accessModes") : (struct str){0});
    put_class(row);
    cell_put_optional(row, field_get(row->spec, "volumeAttributesClassName"), "<unset>");
    cell_put_age(row);
    cell_put_optional(row, field_get(row->spec, "volumeMode"), "<unset>");
}

const struct table_printer table_persistentvolumeclaims =
    TABLE_PRINTER("", "persistentvolumeclaims", claim_columns, claim_put_cells);

/* ---- StorageClasses ---- */

static const struct table_column class_columns[] = {
    TABLE_NAME,
    {"Provisioner", "string", "", 0, "driver that creates the volumes"},
    {"ReclaimPolicy", "string", "", 0, "what happens to a volume after its claim is deleted"},
    {"VolumeBindingMode", "string", "", 0, "when volumes are bound"},
    {"AllowVolumeExpansion", "string", "", 0, "whether volumes can grow"},
    TABLE_AGE,
};

static bool class_is_default(const struct table_row *row)
{
    return value_is(annotation_get(row, STR("storageclass.kubernetes.io/is-default-class")),
                    STR("true")) ||
           value_is(annotation_get(row, STR("storageclass.beta.kubernetes.io/is-default-class")),
                    STR("true"));
}

/* The last but one cell is a JSON boolean, although the column is a string. */
static void class_put_cells(struct table_row *row)
{
    cell_open(row);
    text_put(row, field_get(row->metadata, "name"));
    if (class_is_default(row))
        text_puts(row, " (default)");
    cell_close(row);
    cell_put_string(row, field_get(row->text, "provisioner"), "");
    cell_put_optional(row, field_get(row->text, "reclaimPolicy"), "Delete");
    cell_put_optional(row, field_get(row->text, "volumeBindingMode"), "Immediate");
    text_puts(row,
              value_is_true(field_get(row->text, "allowVolumeExpansion")) ? "true," : "false,");
    cell_put_age(row);
}

const struct table_printer table_storageclasses =
    TABLE_PRINTER("storage.k8s.io", "storageclasses", class_columns, class_put_cells);
