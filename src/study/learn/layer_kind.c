/* Which kind of layer a module is, by its class and, where a class does not tell, by its name. */
#include <fnmatch.h>
#include <string.h>

#include "study/estimate/description.h"
#include "study/learn/example_parts.h"

const char *const plm_layer_name[PLM_LAYER_KINDS] = {
    [PLM_LAYER_LINEAR] = "linear",
    [PLM_LAYER_CONVOLUTION] = "convolution",
    [PLM_LAYER_BATCHNORM] = "batchnorm",
    [PLM_LAYER_LAYERNORM] = "layernorm",
    [PLM_LAYER_DROPOUT] = "dropout",
    [PLM_LAYER_ACTIVATION] = "activation",
    [PLM_LAYER_POOL] = "pool",
    [PLM_LAYER_EMBEDDING] = "embedding",
    [PLM_LAYER_PROJECTION] = "projection",
    [PLM_LAYER_RECURRENT] = "recurrent",
    [PLM_LAYER_OTHER] = "other",
};

/* GPUMemNet's list, in its order. Its networks for images know all but Identity. */
static const char *const activations[PLM_ACTIVATIONS] = {
    "ELU",      "GELU", [PLM_ACTIVATION_IDENTITY] = "Identity", "LeakyReLU", "Mish", "PReLU", "ReLU", "SELU", "SiLU",
    "Softplus", "Tanh",
};

/* Those of transformers that compute the same by another name. */
static const struct {
    const char *pattern, *is;
} activation_aliases[] = {{"*GELU*", "GELU"}, {"SiLUActivation", "SiLU"}, {"MishActivation", "Mish"}};

/* Patterns of classes; the first that fits. The Conv1D of transformers is a linear layer. */
static const struct {
    const char *pattern;
    enum plm_layer_kind kind;
} classes[] = {
    {"MultiheadAttention", PLM_LAYER_PROJECTION},
    {"NonDynamicallyQuantizableLinear", PLM_LAYER_PROJECTION},
    {"Conv1D", PLM_LAYER_LINEAR},
    {"*Linear", PLM_LAYER_LINEAR},
    {"Linear*", PLM_LAYER_LINEAR},
    {"*Conv[123]d*", PLM_LAYER_CONVOLUTION},
    {"*ConvTranspose[123]d", PLM_LAYER_CONVOLUTION},
    {"*BatchNorm*", PLM_LAYER_BATCHNORM},
    {"*LayerNorm*", PLM_LAYER_LAYERNORM},
    {"*RMSNorm*", PLM_LAYER_LAYERNORM},
    {"*GroupNorm*", PLM_LAYER_LAYERNORM},
    {"*Dropout*", PLM_LAYER_DROPOUT},
    {"DropPath", PLM_LAYER_DROPOUT},
    {"StochasticDepth", PLM_LAYER_DROPOUT},
    {"*Pool*", PLM_LAYER_POOL},
    {"*Embedding*", PLM_LAYER_EMBEDDING},
    {"RNN*", PLM_LAYER_RECURRENT},
    {"LSTM*", PLM_LAYER_RECURRENT},
    {"GRU*", PLM_LAYER_RECURRENT},
    {"*ELU*", PLM_LAYER_ACTIVATION},
    {"*ReLU*", PLM_LAYER_ACTIVATION},
    {"*SiLU*", PLM_LAYER_ACTIVATION},
    {"*Mish*", PLM_LAYER_ACTIVATION},
    {"*[Ss]wish*", PLM_LAYER_ACTIVATION},
    {"*Softplus", PLM_LAYER_ACTIVATION},
    {"*Tanh*", PLM_LAYER_ACTIVATION},
    {"*Sigmoid*", PLM_LAYER_ACTIVATION},
    {"*Softmax*", PLM_LAYER_ACTIVATION},
    {"*GLU", PLM_LAYER_ACTIVATION},
    {"*Activation", PLM_LAYER_ACTIVATION},
};

/* Linear layers that lead from attention back into the network, by the ends of their names. */
static const char *const projections[] = {"out_proj", "o_proj", "attn.c_proj", "attn.proj", "attention.output.dense"};

static bool name_ends(const char *name, const char *end)
{
    const size_t length = strlen(name), wanted = strlen(end);
    return length >= wanted && !strcmp(name + length - wanted, end) &&
           (length == wanted || name[length - wanted - 1] == '.' || name[length - wanted - 1] == '_');
}

static bool is_projection(const char *name)
{
    for (size_t i = 0; i < sizeof projections / sizeof projections[0]; i++)
        if (name_ends(name, projections[i]))
            return true;
    return false;
}

enum plm_layer_kind plm_layer_kind(const struct plm_described_module *module)
{
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (!fnmatch(classes[i].pattern, module->class_name, 0))
            return classes[i].kind == PLM_LAYER_LINEAR && is_projection(module->name) ? PLM_LAYER_PROJECTION
                                                                                      : classes[i].kind;
    return PLM_LAYER_OTHER;
}

static int activation_find(const char *class_name)
{
    for (int i = 0; i < PLM_ACTIVATIONS; i++)
        if (!strcmp(activations[i], class_name))
            return i;
    return -1;
}

int plm_activation_index(const char *class_name)
{
    const int found = activation_find(class_name);
    for (size_t i = 0; found < 0 && i < sizeof activation_aliases / sizeof activation_aliases[0]; i++)
        if (!fnmatch(activation_aliases[i].pattern, class_name, 0))
            return activation_find(activation_aliases[i].is);
    return found;
}
